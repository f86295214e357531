package kafkatool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
)

// payloadSlab is how much memory is taken at once for payloads.
const payloadSlab = 64 << 10

// maker makes records. Owned by the sending loop.
type maker struct {
	p    *perfProducing
	rng  *rand.Rand
	slab []byte
}

func newMaker(p *perfProducing) *maker {
	return &maker{p: p, rng: rand.New(rand.NewPCG(uint64(p.seed), 0))}
}

// record makes the n-th record, counted from 0.
func (m *maker) record(n int64) *kgo.Record {
	r := &kgo.Record{Topic: m.p.topic}
	switch {
	case m.p.payloads != nil:
		r.Value = m.p.payloads[m.rng.IntN(len(m.p.payloads))]
	case m.p.size > 0:
		r.Value = m.letters(m.p.size)
	default:
		r.Value = strconv.AppendInt(nil, n, 10)
	}
	switch m.p.keyKind {
	case "range":
		r.Key = strconv.AppendInt(nil, n%m.p.keys, 10)
	case "random":
		r.Key = strconv.AppendInt(nil, m.rng.Int64N(m.p.keys), 10)
	}
	return r
}

// letters returns n letters between A and Z.
func (m *maker) letters(n int) []byte {
	if len(m.slab) < n {
		m.slab = make([]byte, max(n, payloadSlab))
	}
	out := m.slab[:n:n]
	m.slab = m.slab[n:]
	for i := 0; i < n; {
		for bits := m.rng.Uint64(); bits != 0 && i < n; bits >>= 8 {
			out[i] = 'A' + byte(uint32(bits&0xff)*26>>8)
			i++
		}
	}
	return out
}

// largest is the most bytes that a record's key and value have.
func (p *perfProducing) largest() int {
	n := max(p.size, 20)
	for _, b := range p.payloads {
		n = max(n, len(b))
	}
	return n + 20
}

// options translates the producer's properties. Unlike the console producer's, batches are as large as batch.size says: it is what is measured.
func (p *perfProducing) options() ([]kgo.Opt, error) {
	opts, err := ProducerOptions(p.props)
	if err != nil {
		return nil, err
	}
	batch, err := p.props.Int("batch.size", 16<<10)
	limit, lerr := p.props.Int("max.request.size", 1<<20)
	flying, ferr := p.props.Int("max.in.flight.requests.per.connection", 5)
	if err := errors.Join(err, lerr, ferr); err != nil {
		return nil, err
	}
	const header = 128 // of a batch with one record, and room
	batch = min(max(batch, int64(p.largest()+header)), max(limit, 1), 1<<30)
	opts = append(opts, kgo.ProducerBatchMaxBytes(int32(batch)))
	if a := p.props["acks"]; a == "0" || a == "1" || !p.props.Bool("enable.idempotence", true) { // else the client has five on their way, as Java's
		opts = append(opts, kgo.MaxProduceRequestsInflightPerBroker(int(min(max(flying, 1), 1000))))
	}
	return opts, nil
}

// perfFailures tells of refused records on stderr, the same words once. Any goroutine.
type perfFailures struct {
	err io.Writer

	mu sync.Mutex
	n  int64
	by map[string]bool
}

func (f *perfFailures) add(err error) {
	words := conn.Class(err) + ": " + plain(err)
	if code := codeOf(err); code != 0 {
		words = conn.Class(conn.Code(code, nil)) + ": " + conn.Words(code)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.by[words] || len(f.by) >= 100 {
		return
	}
	f.by[words] = true
	fmt.Fprintln(f.err, words)
}

// run sends the records, waits for the answers and tells the summary.
func (p *perfProducing) run(e *Env) error {
	opts, err := p.options()
	if err != nil {
		return err
	}
	cl, err := conn.Open(e.Ctx, p.bootstrap, p.props, opts...)
	if err != nil {
		return err
	}
	defer cl.Close()
	if p.warmup > 0 {
		e.println("Warmup first %d records. Steady state results will print after the complete test summary.", p.warmup)
	}
	_ = e.Out.Flush()
	out, failures := &lineWriter{out: e.Out}, &perfFailures{err: e.Err, by: map[string]bool{}}
	interval := time.Duration(p.interval) * time.Millisecond
	begin := time.Now()
	all := newPerfStats(out, p.records, interval, false, begin)
	var steady *perfStats
	pace, mk := pacer{begin: begin, rate: p.rate}, newMaker(p)
	for n := range p.records {
		if err := pause(e.Ctx, pace.wait(n, time.Now())); err != nil {
			return Exit(130)
		}
		if n == p.warmup && p.warmup > 0 {
			steady = newPerfStats(out, p.records-p.warmup, interval, true, time.Now())
			all.hush()
		}
		rec, now, also := mk.record(n), time.Now(), steady
		cl.Produce(e.Ctx, rec, func(r *kgo.Record, err error) {
			if err != nil {
				if e.Ctx.Err() == nil { // else the user has had enough
					failures.add(err)
				}
				return
			}
			at := time.Now()
			all.record(at.Sub(now), len(r.Value), at)
			if also != nil {
				also.record(at.Sub(now), len(r.Value), at)
			}
		})
	}
	if cl.Flush(e.Ctx) != nil {
		return Exit(130)
	}
	end := time.Now()
	all.summary(end)
	if steady != nil {
		steady.summary(end)
	}
	if failures.n > 1 {
		e.complain("%s: %d of %d records were refused", e.Name, failures.n, p.records)
	}
	return nil
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
