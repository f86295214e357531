package engine

import (
	"context"
	"io"
	"sync"

	"millrace/segment/batch"
)

// AppendResult is what AppendWait answers.
type AppendResult struct {
	BaseOffset, LastOffset int64
	Duplicate              bool
}

// pendingAppend is an append with memory and a channel of its own.
type pendingAppend struct {
	Append
	buf  []byte
	done chan struct{}
}

func (w *pendingAppend) AppendDone(*Append) { w.done <- struct{}{} }

var pendingAppends = sync.Pool{New: func() any { return &pendingAppend{done: make(chan struct{}, 1)} }}

// AppendWait appends one batch and waits for what need names. For ordinary goroutines; the batch is copied, so that the
// caller may use its memory again at once. When ctx ends first its error is returned and the outcome is open.
func (p *Partition) AppendWait(ctx context.Context, v batch.View, need Need) (AppendResult, error) {
	if len(v) < batch.HeaderSize || v.Size() != len(v) || v.ComputeCRC() != v.CRC() {
		return AppendResult{BaseOffset: -1, LastOffset: -1}, ErrInvalidBatch
	}
	w := pendingAppends.Get().(*pendingAppend)
	w.buf = append(w.buf[:0], v...)
	w.Append = Append{Batch: batch.View(w.buf), Need: need, LeaderEpoch: -1, Done: w}
	p.Push(&w.Append)
	select {
	case <-w.done:
	case <-ctx.Done():
		return AppendResult{BaseOffset: -1, LastOffset: -1}, ctx.Err()
	case <-p.eng.closed:
		return AppendResult{BaseOffset: -1, LastOffset: -1}, ErrClosed
	}
	r, err := AppendResult{w.BaseOffset, w.LastOffset, w.Duplicate}, w.Err
	pendingAppends.Put(w)
	return r, err
}

// Read returns whole batches from the one that holds offset on, at least one and otherwise at most maxBytes; nil at the
// end. The first batch may begin below offset. It blocks on the disk at most.
func (p *Partition) Read(offset int64, maxBytes int, i Isolation) ([]byte, error) {
	var plan FetchPlan
	if err := p.PlanBlocking(&plan, offset, int64(maxBytes), i, true); err != nil {
		return nil, err
	}
	if plan.Range.Len == 0 {
		return nil, nil
	}
	defer plan.Ref.Release()
	b := make([]byte, plan.Range.Len)
	if n, err := plan.Range.File.ReadAt(b, plan.Range.Off); n < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return wholeBatches(b), nil
}

// wholeBatches cuts off a batch that the byte limit cut in two.
func wholeBatches(b []byte) []byte {
	end := 0
	for end < len(b) {
		size, err := batch.PeekSize(b[end:])
		if err != nil || size > len(b)-end {
			break
		}
		end += size
	}
	return b[:end]
}

// pendingPoll is a waiter with a channel of its own.
type pendingPoll struct {
	Waiter
	done chan struct{}
}

func (w *pendingPoll) WaiterWake(*Waiter) { w.done <- struct{}{} }

// ReadWait is Read that waits until there is something at offset, or ctx ends.
func (p *Partition) ReadWait(ctx context.Context, offset int64, maxBytes int, i Isolation) ([]byte, error) {
	w := &pendingPoll{done: make(chan struct{}, 1)} // on an early return the engine still has it: never reused
	for {
		b := p.Bounds()
		got, err := p.Read(offset, maxBytes, i)
		if err != nil || len(got) > 0 {
			return got, err
		}
		w.Waiter = Waiter{
			Bound: b.End(i), Missing: 1, LeaderEpoch: b.LeaderEpoch, LogStart: b.LogStart,
			Isolation: i, Wake: w,
		}
		p.Wait(&w.Waiter)
		select {
		case <-w.done:
		case <-ctx.Done():
			w.Cancel()
			return nil, ctx.Err()
		case <-p.eng.closed:
			return nil, ErrClosed
		}
	}
}
