package wire

import (
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// replyBody checks frame size and response header and returns the body.
func replyBody(t *testing.T, frame []byte, key, version int16, correlation int32) []byte {
	t.Helper()
	if n := binary.BigEndian.Uint32(frame); int(n) != len(frame)-4 {
		t.Fatalf("v%d: frame of %d bytes says %d", version, len(frame)-4, n)
	}
	if got := int32(binary.BigEndian.Uint32(frame[4:])); got != correlation {
		t.Fatalf("v%d: correlation id %d", version, got)
	}
	body := frame[8:]
	if Lookup(key).IsFlexible(version) && key != KeyApiVersions {
		if body[0] != 0 {
			t.Fatalf("v%d: header tags %d", version, body[0])
		}
		body = body[1:]
	}
	return body
}

func TestHeaders(t *testing.T) {
	for i := range Versions() {
		api := &Versions()[i]
		for version := api.Min; version <= api.Max; version++ {
			for _, client := range []string{"", "client"} {
				req := kmsg.RequestForKey(api.Key)
				req.SetVersion(version)
				f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(client))
				frame := f.AppendRequest(nil, req, 1234)[4:]
				h, err := ParseHeader(frame)
				if version < api.Lowest {
					if err != ErrVersion || h.API != api {
						t.Fatalf("%s v%d: %v", api.Name, version, err)
					}
					continue
				}
				if err != nil || h.API != api || h.Version != version || h.CorrelationID != 1234 || string(h.ClientID) != client {
					t.Fatalf("%s v%d: %v %+v", api.Name, version, err, h)
				}
				if h.Flexible != req.IsFlexible() {
					t.Fatalf("%s v%d: flexible %t", api.Name, version, h.Flexible)
				}
				if string(h.Body) != string(req.AppendTo(nil)) {
					t.Fatalf("%s v%d: body differs", api.Name, version)
				}
				for n := 0; n < len(frame)-len(h.Body); n++ {
					if _, err := ParseHeader(frame[:n]); err != ErrMalformed {
						t.Fatalf("%s v%d cut at %d: %v", api.Name, version, n, err)
					}
				}
			}
		}
	}
}

func TestHeadersRefused(t *testing.T) {
	frame := func(key, version int16) []byte {
		b := binary.BigEndian.AppendUint16(nil, uint16(key))
		return append(binary.BigEndian.AppendUint16(b, uint16(version)), 0, 0, 0, 7, 0xff, 0xff, 0)
	}
	for _, key := range []int16{-1, -32768, 4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 71, 72, 73, 82, 95, 500, 32767} {
		if _, err := ParseHeader(frame(key, 0)); err != ErrUnknownKey {
			t.Errorf("key %d: %v", key, err)
		}
	}
	for _, v := range []int16{-1, 0, 1, 2, 14, 32767} {
		if _, err := ParseHeader(frame(KeyProduce, v)); err != ErrVersion {
			t.Errorf("Produce v%d: %v", v, err)
		}
	}
	for _, v := range []int16{-1, 6, 99, 32767} {
		h, err := ParseHeader(frame(KeyApiVersions, v))
		if err != nil || !h.Refused || h.CorrelationID != 7 {
			t.Errorf("ApiVersions v%d: %v %+v", v, err, h)
		}
	}
}

func TestVersionsAgreeWithKmsg(t *testing.T) {
	for i := range Versions() {
		api := &Versions()[i]
		req := kmsg.RequestForKey(api.Key)
		if req == nil || req.MaxVersion() < api.Max {
			t.Errorf("%s: kmsg does not know version %d", api.Name, api.Max)
			continue
		}
		for v := api.Min; v <= api.Max; v++ {
			req.SetVersion(v)
			if req.IsFlexible() != api.IsFlexible(v) {
				t.Errorf("%s v%d: flexible %t in kmsg", api.Name, v, req.IsFlexible())
			}
		}
		if i > 0 && Versions()[i-1].Key >= api.Key {
			t.Errorf("%s is out of order", api.Name)
		}
	}
}

func TestErrorCodesAgreeWithKerr(t *testing.T) {
	names := map[string]string{"NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER"}
	known := 0
	for code := int16(-1); code < 200; code++ {
		want := kerr.TypedErrorForCode(code)
		e := ErrorCode(code)
		if want == nil || want.Code != code {
			if code > 0 && e.info() != nil {
				t.Errorf("code %d is not one of Kafka's: %s", code, e)
			}
			continue
		}
		known++
		name := want.Message
		if n := names[name]; n != "" {
			name = n
		}
		if e.Name() != name || e.Retriable() != want.Retriable || e.Message() == "" {
			t.Errorf("code %d: %s retriable %t, want %s %t", code, e, e.Retriable(), name, want.Retriable)
		}
	}
	if known < 130 {
		t.Errorf("only %d codes compared", known)
	}
	if NoError.Name() != "NONE" || NoError.Message() != "" || ErrorCode(999).Name() != "ERROR_999" || ErrorCode(-5).Retriable() {
		t.Error("the ends of the table")
	}
}
