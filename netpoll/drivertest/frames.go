package drivertest

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// frameAtEverySplit sends two frames in two pieces, cut at every byte.
func frameAtEverySplit(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	msg := append(frameOf(1, 23), frameOf(2, 0)...)
	msg = append(msg, frameOf(3, 9)...)
	for cut := 1; cut < len(msg); cut++ {
		k.send(msg[:cut])
		settle()
		k.send(msg[cut:])
		k.expect(msg)
	}
	if got, want := h.frames.Load(), int64(3*(len(msg)-1)); got != want {
		t.Errorf("%d frames were delivered, %d were sent", got, want)
	}
}

// frameSizes sends frames around every limit of the receive path, one after the other and all at once.
func frameSizes(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, &handler{}, rigOptions{})
	k := dial(t, r.addr)
	sizes := []int{0, 1, 508, 511, 512, 513, 4096, 16<<10 - 5, 16<<10 - 4, 16<<10 - 3, 16 << 10, 64<<10 - 5, 64<<10 - 4,
		64<<10 - 3, 64 << 10, 64<<10 + 1, 100, 1 << 20, 1<<20 + 7, 3, 5 << 20, 200 << 10, 20 << 20, 1, 64 << 10, 64 << 10}
	var all []byte
	for i, n := range sizes {
		b := frameOf(byte(i), n)
		go k.send(b)
		k.expect(b)
		all = append(all, b...)
	}
	go k.send(all)
	k.expect(all)
}

// pipelining sends many frames without waiting; the answers come in order.
func pipelining(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	var all []byte
	for i := range 20000 {
		all = append(all, frameOf(byte(i), i%100)...)
	}
	go k.send(all)
	k.expect(all)
	if h.frames.Load() != 20000 {
		t.Errorf("%d frames of 20000", h.frames.Load())
	}
}

// pauseInsideChunk pauses at each frame, goes on by a timer or a task, and loses nothing.
func pauseInsideChunk(t *testing.T, f netpoll.DriverFactory) {
	paused := map[*netpoll.Conn]bool{}
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		if paused[c] {
			t.Error("a frame was delivered while the connection was paused")
		}
		paused[c] = true
		c.PauseRead()
		echo(c, b)
		if h.frames.Load()%2 == 0 {
			c.Loop().PostFunc(func() { paused[c] = false; c.ResumeRead() })
			return
		}
		c.PauseRead()
		tm := &netpoll.Timer{Fire: timerFunc(func() { paused[c] = false; c.ResumeRead() })}
		c.Loop().SetTimer(tm, c.Loop().NowNs()+100_000)
	}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	var all []byte
	for i := range 60 {
		all = append(all, frameOf(byte(i), i*17)...)
	}
	all = append(all, frameOf(99, 300<<10)...)
	all = append(all, frameOf(98, 10)...)
	go k.send(all)
	k.expect(all)
}

type timerFunc func()

func (f timerFunc) TimerFired(*netpoll.Timer, int64) { f() }

// badFrameCloses: an error of the handler ends the connection, before memory is taken for the frame.
func badFrameCloses(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{max: 1000}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	good := frameOf(1, 1000)
	k.send(good)
	k.expect(good)
	k.send(binary.BigEndian.AppendUint32(nil, 1<<31-1))
	k.atEnd()
	eventually(t, "Closed is called", func() bool { return h.ends.Load() == 1 })
	if err := h.anyEnd(); err == nil || !bytes.Contains([]byte(err.Error()), []byte("frame of")) {
		t.Errorf("closed with %v, not with the handler's error", err)
	}
	if n := r.loops[0].Pool().Used(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
}

// headerBytewise sends the length byte by byte, in front of a big frame that follows a big frame.
func headerBytewise(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, &handler{}, rigOptions{})
	k := dial(t, r.addr)
	for i := range 3 {
		b := frameOf(byte(i), 200<<10)
		for j := range 6 {
			k.send(b[j : j+1])
			time.Sleep(2 * time.Millisecond)
		}
		go k.send(b[6:])
		k.expect(b)
	}
}

// pauseInsideFrame pauses while the rest of a frame is on its way: it is not delivered before the connection is resumed.
func pauseInsideFrame(t *testing.T, f netpoll.DriverFactory) {
	var conn *netpoll.Conn
	h := &handler{opened: func(c *netpoll.Conn) { conn = c }}
	r := newRig(t, f, h, rigOptions{})
	l := r.loops[0]
	for i, n := range []int{100, 3000, 100 << 10, 100 << 10, 10} {
		k := dial(t, r.addr)
		b := frameOf(byte(i), n)
		k.send(b[:len(b)/2])
		time.Sleep(5 * time.Millisecond)
		onLoop(l, func() { conn.PauseRead() })
		k.send(b[len(b)/2:])
		if i%2 == 0 {
			_ = k.CloseWrite()
		}
		time.Sleep(10 * time.Millisecond)
		if got := h.frames.Load(); got != int64(i) {
			t.Fatalf("%d frames were delivered while paused", got-int64(i))
		}
		onLoop(l, func() { conn.ResumeRead() })
		k.expect(b)
	}
}

// badFrameAfterGoodOnes: what is owed for earlier frames is sent before a bad one ends the connection.
func badFrameAfterGoodOnes(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{max: 1000}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		c.SetBusy(true)
		tm := &netpoll.Timer{Fire: timerFunc(func() { echo(c, b); c.SetBusy(false) })}
		c.Loop().SetTimer(tm, c.Loop().NowNs()+20_000_000)
	}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	good := frameOf(1, 500)
	k.send(append(good, frameOf(2, 2000)...))
	k.expect(good)
	k.atEnd()
	if err := h.anyEnd(); h.frames.Load() != 1 || err == nil || !bytes.Contains([]byte(err.Error()), []byte("frame of")) {
		t.Errorf("%d frames, ended with %v", h.frames.Load(), err)
	}
}
