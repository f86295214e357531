package drivertest

import (
	"bytes"
	"testing"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// oneTurn: what a hook writes on the loop's thread is taken up in the same turn, and so is what its completer posts, so that
// the answer leaves with it.
func oneTurn(t *testing.T, f netpoll.DriverFactory) {
	file := tempFile(t)
	w := &turnWriter{t: t, file: file}
	w.op.Done, w.task.Run = w, w
	h := &handler{frame: func(c *netpoll.Conn, b *bufpool.Buf) {
		w.conn, w.frame = c, b
	}}
	r := newRig(t, f, h, rigOptions{mode: netpoll.AppendInline})
	onLoop(r.loops[0], func() { r.loops[0].OnTurnEnd(w) })
	k := dial(t, r.addr)
	for i := range 20 {
		b := frameOf(byte(i), 1000)
		k.send(b)
		k.expect(b)
		got := make([]byte, len(b))
		if _, err := file.ReadAt(got, 0); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("the answer came before the write: %v", err)
		}
	}
}

// turnWriter writes the frame that came, and answers with it once it is written. Owned by its loop.
type turnWriter struct {
	t     *testing.T
	file  *osFile
	conn  *netpoll.Conn
	frame *bufpool.Buf
	op    netpoll.Op
	task  netpoll.Task
	turn  int64
}

// TurnEnd writes.
func (w *turnWriter) TurnEnd() bool {
	if w.frame == nil || w.op.Iov != nil {
		return false
	}
	l := w.conn.Loop()
	w.turn = l.Turns()
	w.op.Kind, w.op.File, w.op.Iov = netpoll.OpWritev, w.file, [][]byte{w.frame.B}
	l.Submit(&w.op)
	return false
}

// OpDone posts the answer.
func (w *turnWriter) OpDone(op *netpoll.Op) {
	if op.Err != nil || op.N != int64(len(w.frame.B)) {
		w.t.Errorf("wrote %d bytes: %v", op.N, op.Err)
	}
	w.conn.Loop().Post(&w.task)
}

// RunTask answers.
func (w *turnWriter) RunTask(*netpoll.Task) {
	if now := w.conn.Loop().Turns(); now != w.turn {
		w.t.Errorf("written in turn %d, answered in turn %d", w.turn, now)
	}
	b := w.frame
	w.frame, w.op.Iov = nil, nil
	echo(w.conn, b)
}
