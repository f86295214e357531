package crash

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"millrace/test/harness"
)

// TestFewDescriptors (DF12, report B79): with 256 descriptors, connections and topics are opened until none is left. The broker does not
// spin or die, what is there goes on, and when the connections leave it serves as before.
func TestFewDescriptors(t *testing.T) {
	harness.Program(t, "prlimit", "package util-linux")
	b := start(t, filepath.Join(t.TempDir(), "data"))
	if err := b.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	b.SetWrap("prlimit", "--nofile=256:256")
	if err := b.Launch(); err != nil {
		t.Fatal(err)
	}
	harness.CreateTopic(t, b.Addr, "before", 1)
	old, err := harness.Dial(b.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	harness.MustProduce(t, old, "before", 0, harness.NewBatch(harness.Record{Timestamp: 1, Value: []byte("v")}).Bytes())
	var conns []*harness.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for range 400 { // those above the limit wait in the kernel's queue or are refused
		if c, err := harness.Dial(b.Addr); err == nil {
			conns = append(conns, c)
		}
	}
	time.Sleep(300 * time.Millisecond)
	ticks, _ := harness.CPUTicks(b.PID())
	time.Sleep(2 * time.Second)
	after, err := harness.CPUTicks(b.PID())
	if err != nil {
		t.Fatalf("the broker died: %v", err)
	}
	if used := after - ticks; used > 60 {
		t.Errorf("with no descriptor left the broker used %d ms of processor time in 2 s", used*10)
	}
	for range 50 { // the connection that was there is served as long as its files are open
		harness.MustProduce(t, old, "before", 0, harness.NewBatch(harness.Record{Timestamp: 1, Value: []byte("v")}).Bytes())
	}
	for _, c := range conns {
		c.Close()
	}
	conns = nil
	for deadline := time.Now().Add(10 * time.Second); harness.Answers(b.Addr, time.Second) != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("10 s after the connections left no new one is served")
		}
	}
	manyTopics(t, b)
	if offset := harness.MustProduce(t, old, "before", 0, harness.NewBatch(harness.Record{Timestamp: 1, Value: []byte("v")}).Bytes()); offset != 51 {
		t.Errorf("next offset %d, want 51", offset)
	}
}

// manyTopics creates topics until it is refused; each one that was acknowledged works or says 56.
func manyTopics(t *testing.T, b *harness.Broker) {
	c, err := harness.Dial(b.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	refused := 0
	for i := range 150 {
		name := fmt.Sprintf("topic-%d", i)
		if err := harness.TryCreateTopic(b.Addr, name, 1); err != nil {
			refused++
			continue
		}
		p, err := harness.ProduceOne(c, name, 0, harness.NewBatch(harness.Record{Timestamp: 1, Value: []byte("v")}).Bytes())
		if err != nil {
			t.Fatalf("produce to topic %d: %v", i, err)
		}
		if p.ErrorCode != 0 && p.ErrorCode != 56 {
			t.Errorf("produce to topic %d: error %d, want 0 or 56", i, p.ErrorCode)
		}
	}
	t.Logf("%d of 150 topics were refused", refused)
	if !b.Alive() {
		t.Fatal("the broker died")
	}
}
