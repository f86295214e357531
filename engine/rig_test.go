package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"millrace/segment/batch"
	"millrace/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quietLog drops what the engine says; tests look at behaviour.
func quietLog() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// testOptions are small and quick.
func testOptions(fs vfs.FS) Options {
	return Options{FS: fs, Dirs: []string{"/data"}, Log: quietLog(), BootID: "boot", SpaceProbeMs: 10}
}

// start opens and loads an engine and closes it at the end of the test if the test has not.
func start(t testing.TB, o Options) (*Engine, LoadReport) {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		e.Close(ctx)
	})
	r, err := e.Load(context.Background())
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return e, r
}

func stop(t testing.TB, e *Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// abort ends an engine whose disk is gone.
func abort(e *Engine) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	e.Close(ctx)
}

func ensure(t testing.TB, e *Engine, topic string, index int32) *Partition {
	t.Helper()
	p, err := e.Ensure(ctxOf(t), topic, index)
	if err != nil {
		t.Fatalf("ensure %s-%d: %v", topic, index, err)
	}
	return p
}

func ctxOf(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// mkBatch is a batch with these values and no producer.
func mkBatch(values ...string) batch.View {
	var b batch.Builder
	b.Reset(nil, 0, 0)
	for _, v := range values {
		b.Add(time.Now().UnixMilli(), nil, []byte(v))
	}
	return b.Finish()
}

// idBatch is a batch of one idempotent producer.
func idBatch(pid int64, epoch int16, seq int32, values ...string) batch.View {
	var b batch.Builder
	b.Reset(nil, 0, 0)
	b.SetProducer(pid, epoch, seq)
	for _, v := range values {
		b.Add(time.Now().UnixMilli(), nil, []byte(v))
	}
	return b.Finish()
}

func mustAppend(t testing.TB, p *Partition, need Need, v batch.View) AppendResult {
	t.Helper()
	r, err := p.AppendWait(ctxOf(t), v, need)
	if err != nil {
		t.Fatalf("append to %s: %v", p, err)
	}
	return r
}

// rec is one record as read back.
type rec struct {
	offset int64
	epoch  int32
	pid    int64
	value  string
}

// readAll reads a partition from its log start to its committed end and checks CRCs and that offsets are contiguous.
func readAll(t testing.TB, p *Partition, i Isolation) []rec {
	t.Helper()
	b := p.Bounds()
	return readFrom(t, p, b.LogStart, b.End(i), i)
}

func readFrom(t testing.TB, p *Partition, from, end int64, i Isolation) []rec {
	t.Helper()
	var out []rec
	next := from
	for next < end {
		data, err := p.Read(next, 1<<20, i)
		if err != nil {
			t.Fatalf("read %s at %d: %v", p, next, err)
		}
		if len(data) == 0 {
			t.Fatalf("read %s at %d of %d: nothing", p, next, end)
		}
		before := next
		s := batch.NewScanner(data, true)
		for s.Next() {
			v := s.View()
			if v.BaseOffset() != next && next != from {
				t.Fatalf("%s: batch at offset %d, want %d", p, v.BaseOffset(), next)
			}
			it := v.Iter()
			var r batch.Record
			for it.Next(&r) {
				if o := v.BaseOffset() + int64(r.OffsetDelta); o >= from {
					out = append(out, rec{o, v.LeaderEpoch(), v.ProducerID(), string(r.Value)})
				}
			}
			if it.Err() != nil {
				t.Fatalf("%s at %d: %v", p, v.BaseOffset(), it.Err())
			}
			next = v.NextOffset()
		}
		if s.Err() != nil {
			t.Fatalf("%s at %d: %v", p, next, s.Err())
		}
		if next == before {
			t.Fatalf("%s at %d: no progress", p, next)
		}
	}
	if next > end {
		t.Fatalf("%s: read up to %d, beyond the end %d", p, next, end)
	}
	return out
}

func valuesOf(rs []rec) string {
	var s []string
	for _, r := range rs {
		s = append(s, r.value)
	}
	return strings.Join(s, " ")
}

// eventually waits for a condition that another goroutine brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// call runs something with a completion and waits for it.
func call[T any](t testing.TB, do func(done func(T, error))) (T, error) {
	t.Helper()
	type result struct {
		v   T
		err error
	}
	got := make(chan result, 1)
	do(func(v T, err error) { got <- result{v, err} })
	select {
	case r := <-got:
		return r.v, r.err
	case <-time.After(20 * time.Second):
		t.Fatal("no completion")
		panic("unreachable")
	}
}

// counter counts storage calls of one kind.
type counter struct {
	op vfs.Op
	n  atomic.Int64
}

func (c *counter) rule(v vfs.Call) vfs.Fault {
	if v.Op == c.op {
		c.n.Add(1)
	}
	return vfs.Fault{}
}

// delay makes every call of one kind slow.
func delay(op vfs.Op, d time.Duration) func(vfs.Call) vfs.Fault {
	return func(c vfs.Call) vfs.Fault {
		if c.Op == op {
			return vfs.Fault{Delay: d}
		}
		return vfs.Fault{}
	}
}

// hexID makes a topic id out of a name.
func hexID(name string) (id [16]byte) {
	copy(id[:], name)
	binary.BigEndian.PutUint32(id[12:], uint32(len(name)))
	return id
}

// pushed is an Append of a test: it counts its completions.
type pushed struct {
	Append
	mu    sync.Mutex
	dones int
	done  chan struct{}
}

func push(p *Partition, v batch.View, need Need, epoch int32) *pushed {
	a := &pushed{done: make(chan struct{})}
	a.Append = Append{Batch: bytes.Clone(v), Need: need, LeaderEpoch: epoch, Done: a}
	p.Push(&a.Append)
	return a
}

func (a *pushed) AppendDone(*Append) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dones++
	if a.dones > 1 {
		panic(fmt.Sprintf("append completed %d times", a.dones))
	}
	close(a.done)
}

func (a *pushed) wait(t testing.TB) error {
	t.Helper()
	select {
	case <-a.done:
		return a.Err
	case <-time.After(20 * time.Second):
		t.Fatal("append was not completed")
		return nil
	}
}

func (a *pushed) isDone() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}
