package wire

import (
	"bytes"
	"reflect"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumed is the length of the body as the walker sees it, -1 if malformed.
func consumed(api *API, version int16, body []byte) int {
	w := walker{r: reader{b: body}, version: version, flexible: api.IsFlexible(version), left: MaxElements}
	w.fields(schemas[api.Key])
	if w.r.bad {
		return -1
	}
	return len(body) - len(w.r.b)
}

// Every API and version: the walker ends where kmsg's encoder did, and the
// strict decoder reads what kmsg wrote.
func TestSchemasAgreeWithKmsg(t *testing.T) {
	r := seeded(21)
	for i := range Versions() {
		api := &Versions()[i]
		for version := api.Min; version <= api.Max; version++ {
			for n := 0; n < 60; n++ {
				req, body := random(r, api.Key, version)
				if got := consumed(api, version, append(bytes.Clone(body), 9, 9, 9)); got != len(body) {
					t.Fatalf("%s v%d: %d bytes of %d\n%#v\n%x", api.Name, version, got, len(body), req, body)
				}
				back := kmsg.RequestForKey(api.Key)
				if err := DecodeRequest(back, append(bytes.Clone(body), 9), version); err != nil {
					t.Fatalf("%s v%d: %v", api.Name, version, err)
				}
				if !reflect.DeepEqual(back, req) {
					t.Fatalf("%s v%d: decoded otherwise", api.Name, version)
				}
			}
		}
	}
}

func TestRequestsCutAnywhereAreMalformed(t *testing.T) {
	r := seeded(22)
	for i := range Versions() {
		api := &Versions()[i]
		for version := api.Min; version <= api.Max; version++ {
			for n := 0; n < 5; n++ {
				_, body := random(r, api.Key, version)
				for cut := range body {
					if err := DecodeRequest(kmsg.RequestForKey(api.Key), body[:cut:cut], version); err != ErrMalformed {
						t.Fatalf("%s v%d cut at %d of %d: %v", api.Name, version, cut, len(body), err)
					}
				}
			}
		}
	}
}

// What Kafka was seen to close the connection for, beside cut bodies.
func TestRequestsThatKafkaRefuses(t *testing.T) {
	null := []byte{0xff, 0xff, 0xff, 0xff}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name    string
		key     int16
		version int16
		body    []byte
		good    bool
	}{
		{"ListOffsets topics null", KeyListOffsets, 1, join(null, null), false},
		{"FindCoordinator key null", KeyFindCoordinator, 0, []byte{0xff, 0xff}, false},
		{"FindCoordinator v3 key null", KeyFindCoordinator, 3, []byte{0, 0, 0}, false},
		{"Heartbeat group null", KeyHeartbeat, 0, []byte{0xff, 0xff, 0, 0, 0, 1, 0, 0}, false},
		{"DeleteTopics names null", KeyDeleteTopics, 1, join(null, []byte{0, 0, 3, 0xe8}), false},
		{"DeleteTopics names -2", KeyDeleteTopics, 1, []byte{0xff, 0xff, 0xff, 0xfe, 0, 0, 3, 0xe8}, false},
		{"DeleteTopics no names", KeyDeleteTopics, 1, []byte{0, 0, 0, 0, 0, 0, 3, 0xe8}, true},
		{"CreateTopics topics null", KeyCreateTopics, 2, join(null, []byte{0, 0, 3, 0xe8, 0}), false},
		{"Metadata v0 topics null", KeyMetadata, 0, null, false},
		{"Metadata v1 topics null", KeyMetadata, 1, null, true},
		{"Metadata v9 body tags", KeyMetadata, 9, []byte{1, 0, 0, 0, 1, 99, 3, 'a', 'b', 'c'}, true},
		{"Metadata v9 tag longer than the frame", KeyMetadata, 9, []byte{1, 0, 0, 0, 1, 99, 100}, false},
		{"Metadata v9 no tags", KeyMetadata, 9, []byte{1, 0, 0, 0}, false},
		{"Metadata v10 name null", KeyMetadata, 10, join([]byte{2}, make([]byte, 16), []byte{0, 0, 0, 0, 0, 0}), true},
		{"Metadata v9 name null", KeyMetadata, 9, []byte{2, 0, 0, 0, 0, 0, 0, 0}, false},
		{"Metadata v1 count 5", KeyMetadata, 1, []byte{0, 0, 0, 5}, false},
		{"Metadata v9 count 5", KeyMetadata, 9, []byte{5}, false},
		{"SyncGroup assignment null", KeySyncGroup, 0, []byte{0, 1, 'g', 0, 0, 0, 1, 0, 1, 'm', 0, 0, 0, 1, 0, 1, 'm', 0xff, 0xff, 0xff, 0xff}, false},
		{"ApiVersions v3 nothing", KeyApiVersions, 3, nil, false},
		{"ApiVersions v3 long name", KeyApiVersions, 3, []byte{200, 1, 'x'}, false},
		{"DescribeTopicPartitions no cursor", KeyDescribeTopicPartitions, 0, []byte{1, 0, 0, 0, 1, 0xff, 0}, true},
		{"DescribeTopicPartitions cursor cut", KeyDescribeTopicPartitions, 0, []byte{1, 0, 0, 0, 1, 1, 2, 't'}, false},
		{"Fetch v12 replica state too early", KeyFetch, 12, fetchWithTags(12, false, append([]byte{1, 1, 13}, make([]byte, 13)...)...), false},
		{"Fetch v15 replica state", KeyFetch, 15, fetchWithTags(15, false, append([]byte{1, 1, 13}, make([]byte, 13)...)...), true},
		{"string over 32767", KeyFindCoordinator, 3, join([]byte{0x81, 0x80, 0x02}, make([]byte, 40000)), false},
	} {
		err := DecodeRequest(kmsg.RequestForKey(c.key), c.body, c.version)
		if (err == nil) != c.good {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := DecodeRequest(kmsg.NewPtrLeaderAndISRRequest(), nil, 0); err != ErrUnknownKey {
		t.Error(err)
	}
}

// A count must cost nothing before it is known to be true.
func TestGiantCountsAllocateNothing(t *testing.T) {
	counts := [][]byte{{0x7f, 0xff, 0xff, 0xff}, {0, 0x10, 0, 0}, {0xff, 0xff, 0xff, 0xff, 0x07}, {0x80, 0x80, 0x40}}
	padding := make([]byte, 300)
	for i := range Versions() {
		api := &Versions()[i]
		for version := api.Lowest; version <= api.Max; version++ {
			for _, count := range counts {
				// The count at every place of a zero body, where an array may be.
				for at := 0; at < 30; at++ {
					body := append(append(bytes.Clone(padding[:at]), count...), padding...)
					if err := Check(api, version, body); err != nil && err != ErrMalformed && err != ErrElements {
						t.Fatal(err)
					}
				}
			}
		}
	}
	body := append([]byte{0x7f, 0xff, 0xff, 0xff}, padding...)
	req := kmsg.NewPtrMetadataRequest()
	if n := testing.AllocsPerRun(50, func() {
		if DecodeRequest(req, body, 1) == nil {
			t.Fatal("taken")
		}
	}); n != 0 {
		t.Errorf("%v allocations for a refused request", n)
	}
	// Legal, but more than anybody asks for: 50 MB of two-byte topics.
	big := make([]byte, 50<<20)
	big[0], big[1], big[2], big[3] = 0x01, 0x80, 0, 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := DecodeRequest(req, big, 1); err != ErrElements {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes for a refused request", grown)
	}
}

func TestAppendReply(t *testing.T) {
	for _, c := range []struct{ key, version int16 }{{KeyMetadata, 8}, {KeyMetadata, 12}, {KeyApiVersions, 0}, {KeyApiVersions, 3}, {KeyApiVersions, 5}} {
		req := kmsg.RequestForKey(c.key)
		resp := req.ResponseKind()
		h := Header{API: Lookup(c.key), Version: c.version, CorrelationID: 9}
		out := AppendReply([]byte("ab"), &h, resp)
		body := replyBody(t, out[2:], c.key, c.version, 9)
		if !bytes.Equal(body, resp.AppendTo(nil)) {
			t.Errorf("%s v%d: body differs", h.API.Name, c.version)
		}
	}
}

// FuzzDecodeRequest: no body of any API panics or is taken by kmsg where the
// walker took less.
func FuzzDecodeRequest(f *testing.F) {
	r := seeded(23)
	for i := range Versions() {
		api := &Versions()[i]
		for _, version := range []int16{api.Min, api.Max} {
			_, body := random(r, api.Key, version)
			f.Add(uint8(api.Key), uint8(version), body)
		}
	}
	// A tag number of more than 32 bits, and a presence byte that is neither.
	f.Add(uint8(KeyDescribeQuorum), uint8(2), []byte("\x01\x020\x00\x9c\xac\xac\xac0\x000"))
	f.Add(uint8(KeyDescribeTopicPartitions), uint8(0), []byte("\x010000\x8f\x00"))
	f.Fuzz(func(t *testing.T, key, version uint8, body []byte) {
		api := Lookup(int16(key))
		if api == nil || !api.Accepts(int16(version)) {
			return
		}
		n := consumed(api, int16(version), body)
		if n < 0 {
			return
		}
		req := kmsg.RequestForKey(api.Key)
		if err := DecodeRequest(req, body, int16(version)); err != nil {
			t.Fatalf("%s v%d: the walker took it, the decoder not: %v", api.Name, version, err)
		}
		if err := DecodeRequest(kmsg.RequestForKey(api.Key), body[:n:n], int16(version)); err != nil {
			t.Fatalf("%s v%d: %v without the bytes behind", api.Name, version, err)
		}
	})
}
