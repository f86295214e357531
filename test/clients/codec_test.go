package clients

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// checkCodec looks at the stored batches: most must carry the codec asked for (clients may send a batch plain that would not shrink).
func checkCodec(t *testing.T, j *job, codec string) {
	t.Helper()
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
