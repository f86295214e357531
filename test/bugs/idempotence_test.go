package bugs

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// producerID gets a fresh producer id.
func producerID(t testing.TB, c *harness.Conn) (int64, int16) {
	t.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version, req.ProducerID, req.ProducerEpoch, req.TransactionTimeoutMillis = 4, -1, -1, 60000
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		resp := do[*kmsg.InitProducerIDResponse](t, c, req)
		if resp.ErrorCode == 0 {
			return resp.ProducerID, resp.ProducerEpoch
		}
		if resp.ErrorCode != 14 || time.Now().After(deadline) {
			t.Fatalf("InitProducerId: error %d", resp.ErrorCode)
		}
	}
}

// numbered is a batch of one record of an idempotent producer.
func numbered(id int64, epoch int16, seq int32) []byte {
	b := harness.NewBatch(harness.Record{Timestamp: now(), Value: []byte("v")})
	b.ProducerID, b.ProducerEpoch, b.BaseSequence = id, epoch, seq
	return b.Bytes()
}

// TestIdleProducerGoesOn (B29): an idempotent producer that was silent longer than every expiry goes on where it was.
func TestIdleProducerGoesOn(t *testing.T) {
	c := dial(t)
	name := topic(t, "b29", 1)
	id, epoch := producerID(t, c)
	for seq := range int32(2) {
		harness.MustProduce(t, c, name, 0, numbered(id, epoch, seq))
	}
	time.Sleep(8 * time.Second) // producer.id.expiration.ms is 5000 and transactional.id.expiration.ms 2000 where we start the broker
	for seq := int32(2); seq < 4; seq++ {
		if offset := harness.MustProduce(t, c, name, 0, numbered(id, epoch, seq)); offset != int64(seq) {
			t.Errorf("sequence %d at offset %d", seq, offset)
		}
	}
}

// TestResendIsWrittenOnce: each of the last five batches sent again gets its first offset and is not written; older ones and gaps are
// refused (traps beside B29 and B59).
func TestResendIsWrittenOnce(t *testing.T) {
	c := dial(t)
	name := topic(t, "b29-resend", 1)
	id, epoch := producerID(t, c)
	for seq := range int32(8) {
		harness.MustProduce(t, c, name, 0, numbered(id, epoch, seq))
	}
	for seq := int32(3); seq < 8; seq++ {
		if offset := harness.MustProduce(t, c, name, 0, numbered(id, epoch, seq)); offset != int64(seq) {
			t.Errorf("sequence %d sent again: offset %d", seq, offset)
		}
	}
	for _, seq := range []int32{2, 9} {
		if p, err := harness.ProduceOne(c, name, 0, numbered(id, epoch, seq)); err != nil || p.ErrorCode != 45 {
			t.Errorf("sequence %d: error %d, %v, want 45", seq, p.ErrorCode, err)
		}
	}
	if end, _, err := harness.EndOffset(target.Addr, name, 0, -1); err != nil || end != 8 {
		t.Errorf("log ends at %d, want 8: %v", end, err)
	}
}
