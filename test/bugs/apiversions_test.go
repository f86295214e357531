package bugs

import (
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestApiVersionsAboveOurs (B23): a version the broker does not know, with any body, gets the version 0 layout, error 35 and our range of
// key 18; the connection goes on.
func TestApiVersionsAboveOurs(t *testing.T) {
	c := dial(t)
	ours := do[*kmsg.ApiVersionsResponse](t, c, kmsg.NewPtrApiVersionsRequest())
	var low, high int16
	for _, k := range ours.ApiKeys {
		if k.ApiKey == 18 {
			low, high = k.MinVersion, k.MaxVersion
		}
	}
	for _, version := range []int16{high + 1, 99, 32767} {
		header := []byte{0, 18}
		header = binary.BigEndian.AppendUint16(header, uint16(version))
		header = append(header, 0, 0, 0x12, 0x34, 0, 1, 'x', 0, 0xfe, 0xdc, 0xba, 0x98)
		if err := c.SendRaw(append(binary.BigEndian.AppendUint32(nil, uint32(len(header))), header...)); err != nil {
			t.Fatal(err)
		}
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatalf("v%d: %v", version, err)
		}
		resp := kmsg.NewPtrApiVersionsResponse()
		if err := resp.ReadFrom(frame[4:]); err != nil || binary.BigEndian.Uint32(frame) != 0x1234 {
			t.Fatalf("v%d: answer %x is not in the layout of version 0: %v", version, frame, err)
		}
		if resp.ErrorCode != 35 || len(resp.ApiKeys) != 1 || resp.ApiKeys[0].ApiKey != 18 || resp.ApiKeys[0].MinVersion != low || resp.ApiKeys[0].MaxVersion != high {
			t.Errorf("v%d: %+v, want error 35 and key 18 with versions %d to %d", version, resp, low, high)
		}
		if again := do[*kmsg.ApiVersionsResponse](t, c, kmsg.NewPtrApiVersionsRequest()); again.ErrorCode != 0 || len(again.ApiKeys) != len(ours.ApiKeys) {
			t.Errorf("after v%d: error %d and %d keys", version, again.ErrorCode, len(again.ApiKeys))
		}
	}
}

// TestApiVersionsIsComplete (B21, and the trap that old librdkafka needs): every version of the answer names the same keys, Produce from 0.
func TestApiVersionsIsComplete(t *testing.T) {
	c := dial(t)
	must := []int16{0, 1, 2, 3, 18, 19, 20, 21, 22, 23, 32, 33, 35, 37, 44, 60, 61, 74, 75}
	for version := int16(0); version <= 4; version++ {
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = version, "millrace-test", "1.0"
		resp := do[*kmsg.ApiVersionsResponse](t, c, req)
		has := map[int16]kmsg.ApiVersionsResponseApiKey{}
		for _, k := range resp.ApiKeys {
			has[k.ApiKey] = k
		}
		for _, key := range must {
			if k, ok := has[key]; !ok || k.MaxVersion < k.MinVersion {
				t.Errorf("v%d: key %d is missing", version, key)
			}
		}
		if has[0].MinVersion != 0 {
			t.Errorf("v%d: Produce from version %d, want 0", version, has[0].MinVersion)
		}
	}
}
