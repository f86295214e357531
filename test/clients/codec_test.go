package clients

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// checkCodec looks at the stored batches: most must carry the codec asked for (clients may send a batch plain that would not shrink).
//
// librdkafka sends plain batches in place of lz4 to a broker that does not list FindCoordinator (its sign of a broker that knows the right
// lz4 frame), so there the check waits until the broker lists it.
func checkCodec(t *testing.T, c *client, j *job, codec string) {
	t.Helper()
	if codec == "lz4" && c.librdkafka && !lists(t, j.addr, 10) {
		t.Logf("%s sends no lz4 to a broker without FindCoordinator", c.name)
		return
	}
	resp, err := harness.Once(j.addr, harness.Fetch(1000, 1, 4<<20, harness.FetchFrom{Topic: j.topic, Max: 4 << 20}))
	if err != nil {
		t.Errorf("looking at the stored batches: %v", err)
		return
	}
	heads := harness.Heads(resp.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches)
	as := 0
	for _, h := range heads {
		if harness.Codecs[h.Attributes&7] == codec {
			as++
		}
	}
	if as == 0 || as*2 < len(heads) {
		t.Errorf("%d of %d stored batches have codec %s", as, len(heads), codec)
	}
}

// lists reports whether the broker advertises an API.
func lists(t *testing.T, addr string, key int16) bool {
	resp, err := harness.Once(addr, kmsg.NewPtrApiVersionsRequest())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range resp.(*kmsg.ApiVersionsResponse).ApiKeys {
		if k.ApiKey == key {
			return true
		}
	}
	return false
}
