package hostile

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestPipelinedRequestsWithoutReading: 10,000 requests are pushed down one connection by a client that does not read. The broker stops
// reading instead of buffering answers, others are served, and once the client reads, every answer comes, in order (PA12).
func TestPipelinedRequestsWithoutReading(t *testing.T) {
	harness.CreateTopic(t, target.Addr, harness.Name("wide"), 200) // makes each Metadata answer some kilobytes
	w, canary := startWatch(t), harness.StartCanary(t, target.Addr)
	conn := dial(t)
	req := kmsg.NewPtrMetadataRequest()
	req.Version, req.Topics = 9, nil
	format := kmsg.NewRequestFormatter()
	const n = 10000
	written := make(chan error, 1)
	go func() {
		_ = conn.SetWriteDeadline(time.Now().Add(60 * time.Second))
		for i := range n {
			if _, err := conn.Conn.Write(format.AppendRequest(nil, req, int32(i))); err != nil {
				written <- fmt.Errorf("request %d: %w", i, err)
				return
			}
		}
		written <- nil
	}()
	time.Sleep(2 * time.Second)
	canary.Healthy(t, quiet)
	for i := range n {
		frame, err := conn.ReadFrame()
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if got := int32(binary.BigEndian.Uint32(frame)); got != int32(i) {
			t.Fatalf("answer %d carries correlation id %d", i, got)
		}
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	w.flat()
}

// TestPipelinedProduceKeepsOrder: 10,000 produce requests in flight on one connection are written and answered in the order sent.
func TestPipelinedProduceKeepsOrder(t *testing.T) {
	topic := harness.Name("pipeline")
	harness.CreateTopic(t, target.Addr, topic, 1)
	w := startWatch(t)
	conn := dial(t)
	const n = 10000
	failed := make(chan error, 1)
	go func() {
		for i := range n {
			batch := harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli(), Value: fmt.Appendf(nil, "%d", i)}).Bytes()
			if _, err := conn.Send(harness.Produce(topic, 0, 1, batch)); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	time.Sleep(time.Second)
	for i := range n {
		resp, err := conn.Receive(harness.Produce(topic, 0, 1, nil), int32(i+1))
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if p := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != int64(i) {
			t.Fatalf("request %d: error %d, offset %d", i, p.ErrorCode, p.BaseOffset)
		}
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	w.flat()
}
