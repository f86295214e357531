package kafkatool

import (
	"context"
	"io"
	"time"
)

// interruptible reads from a stream until its context ends, also while the stream waits for somebody to type. Owned by one reader.
type interruptible struct {
	ctx  context.Context
	in   io.Reader
	buf  []byte
	left []byte
	err  error
}

func newInterruptible(ctx context.Context, in io.Reader) *interruptible {
	return &interruptible{ctx: ctx, in: in, buf: make([]byte, 64<<10)}
}

// Read implements io.Reader. A read that the end of the context leaves behind goes on for itself; nothing reads what it brings.
func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		type result struct {
			n   int
			err error
		}
		done := make(chan result, 1)
		go func() {
			n, err := r.in.Read(r.buf)
			done <- result{n, err}
		}()
		select {
		case got := <-done:
			r.left, r.err = r.buf[:got.n], got.err
		case <-r.ctx.Done():
			r.err = r.ctx.Err()
			return 0, r.err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}

// outlasting is a context that ends a while after its parent, so that what was begun can be finished.
func outlasting(parent context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(by, cancel) })
	return ctx, func() {
		stop()
		cancel()
	}
}
