package kafkatool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestInterruptibleReadsAll(t *testing.T) {
	want := strings.Repeat("some text\n", 100000)
	got, err := io.ReadAll(newInterruptible(context.Background(), strings.NewReader(want)))
	if err != nil || !bytes.Equal(got, []byte(want)) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
}

// TestInterruptibleEnds: a read that waits for input ends with the context; what came before is read first.
func TestInterruptibleEnds(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(context.Background())
	r := newInterruptible(ctx, in)
	go func() {
		_, _ = out.Write([]byte("typed"))
		time.Sleep(20 * time.Millisecond)
		cancel()
	}()
	got, err := io.ReadAll(r)
	if string(got) != "typed" || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("once more: %v", err)
	}
}

func TestOutlasting(t *testing.T) {
	parent, cancel := context.WithCancel(context.Background())
	ctx, done := outlasting(parent, 30*time.Millisecond)
	defer done()
	cancel()
	if ctx.Err() != nil {
		t.Error("it ended with its parent")
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("it never ends")
	}
}
