package drivertest

import (
	"errors"
	"io"
	"math/rand"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// halfClose: a peer that stops sending still gets the answers to what it sent.
func halfClose(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		c.SetBusy(true)
		tm := &netpoll.Timer{Fire: timerFunc(func() { echo(c, b); c.SetBusy(false) })}
		c.Loop().SetTimer(tm, c.Loop().NowNs()+int64(30*time.Millisecond))
	}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	k.send(frameOf(1, 100))
	if err := k.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	k.expect(frameOf(1, 100))
	k.atEnd()
	eventually(t, "the connection ends", func() bool { return h.ends.Load() == 1 })
	if err := h.anyEnd(); err != (none{}) {
		t.Errorf("ended with %v", err)
	}
	// With many frames behind a pause, and with an end inside a frame.
	h2 := &handler{}
	r2 := newRig(t, f, h2, rigOptions{})
	k2 := dial(t, r2.addr)
	var all []byte
	for i := range 5000 {
		all = append(all, frameOf(byte(i), 50)...)
	}
	go func() {
		k2.send(append(all, 0, 0, 1))
		_ = k2.CloseWrite()
	}()
	k2.expect(all)
	k2.atEnd()
}

// closeNilFlushes: Close(nil) sends what is queued and then ends the connection.
func closeNilFlushes(t *testing.T, f netpoll.DriverFactory) {
	body := noise(1, 8<<20)
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		o := c.Loop().NewOut()
		o.AddMem(body, nil)
		c.Send(o)
		c.Close(nil)
	}
	r := newRig(t, f, h, rigOptions{sndbuf: 64 << 10})
	k := dial(t, r.addr)
	k.send(append(frameOf(1, 1), frameOf(2, 1)...))
	k.expect(body)
	k.atEnd()
	if h.frames.Load() != 1 {
		t.Errorf("%d frames after a close", h.frames.Load())
	}
}

// reset: peers that vanish with a reset, at any moment.
func reset(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	body := make([]byte, 1<<20)
	var outs, dones atomic.Int64
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		o := c.Loop().NewOut()
		o.AddMem(body, nil)
		o.Done = outFunc(func(*netpoll.Out, error) { dones.Add(1) })
		outs.Add(1)
		c.Send(o)
	}
	r := newRig(t, f, h, rigOptions{sndbuf: 64 << 10})
	rnd := rand.New(rand.NewSource(1))
	for i := range 60 {
		k := dial(t, r.addr)
		switch i % 4 {
		case 1:
			k.send(frameOf(1, 10)[:7])
		case 2:
			k.send(frameOf(1, 10))
		case 3:
			k.send(frameOf(1, 500<<10)[:100<<10])
		}
		time.Sleep(time.Duration(rnd.Intn(2000)) * time.Microsecond)
		_ = k.SetLinger(0)
		k.Close()
	}
	eventually(t, "all connections have ended", func() bool { return r.group.Conns() == 0 && h.ends.Load() == h.opens.Load() })
	if outs.Load() != dones.Load() {
		t.Errorf("%d messages, %d completions", outs.Load(), dones.Load())
	}
	k := dial(t, r.addr)
	k.send(frameOf(1, 1))
	k.expect(body)
}

// closeDuringSend: everything queued is completed, with an error, before Closed; references are released once.
func closeDuringSend(t *testing.T, f netpoll.DriverFactory) {
	content := noise(4, 4<<20)
	file := tempFile(t)
	if _, err := file.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	var refs countRef
	var segs, outs, dones, failed atomic.Int64
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		for range 20 {
			o := c.Loop().NewOut()
			o.AddMem(content[:1000], &refs)
			o.AddFile(file, 0, int64(len(content)), &refs)
			segs.Add(2)
			outs.Add(1)
			o.Done = outFunc(func(_ *netpoll.Out, err error) {
				dones.Add(1)
				if err != nil {
					failed.Add(1)
				}
			})
			c.Send(o)
		}
		tm := &netpoll.Timer{Fire: timerFunc(func() { c.Close(boom) })}
		c.Loop().SetTimer(tm, c.Loop().NowNs()+int64(5*time.Millisecond))
	}
	h.closed = func(c *netpoll.Conn, err error) {
		if !errors.Is(err, boom) {
			t.Errorf("closed with %v", err)
		}
		if c.QueuedBytes() != 0 || dones.Load() != outs.Load() {
			t.Errorf("closed before its messages: %d bytes, %d of %d", c.QueuedBytes(), dones.Load(), outs.Load())
		}
	}
	r := newRig(t, f, h, rigOptions{sndbuf: 64 << 10, limits: netpoll.Limits{OutBytesMax: 1 << 30}})
	for i := range 8 {
		k := dial(t, r.addr)
		k.send(frameOf(byte(i), 1))
		if i%2 == 0 {
			_, _ = io.CopyN(io.Discard, k, 6<<20)
		}
		_, _ = io.Copy(io.Discard, k)
		eventually(t, "closed", func() bool { return h.ends.Load() == int64(i+1) })
	}
	if refs.n.Load() != segs.Load() || failed.Load() == 0 {
		t.Errorf("%d segments, %d releases, %d messages failed", segs.Load(), refs.n.Load(), failed.Load())
	}
}

// stopInFlight stops a loop with receives, sends, syncs, reads and offloaded work in flight.
func stopInFlight(t *testing.T, f netpoll.DriverFactory) {
	before := openFds()
	h := &handler{}
	body := make([]byte, 32<<20)
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		o := c.Loop().NewOut()
		o.AddMem(body, nil)
		c.Send(o)
	}
	r := newRig(t, f, h, rigOptions{loops: 2})
	for i := range 10 {
		k := dial(t, r.addr)
		switch i % 3 {
		case 1:
			k.send(frameOf(1, 300<<10)[:200<<10])
		case 2:
			k.send(frameOf(1, 10))
		}
		defer k.Close()
	}
	eventually(t, "all are open", func() bool { return h.opens.Load() == 10 })
	l := r.loops[1]
	var ended atomic.Int64
	onLoop(l, func() {
		l.Submit(&netpoll.Op{Kind: netpoll.OpDatasync, File: &memFile{delay: 100 * time.Millisecond},
			Done: opFunc(func(*netpoll.Op) { ended.Add(1) })})
		l.Offload(func() { time.Sleep(50 * time.Millisecond) }, func() { ended.Add(1) })
	})
	r.stop()
	if ended.Load() != 2 || h.ends.Load() != 10 {
		t.Errorf("%d of 2 operations and %d of 10 connections ended", ended.Load(), h.ends.Load())
	}
	eventually(t, "descriptors are closed", func() bool { return openFds() <= before+11 })
	for range 100 {
		l.PostFunc(func() {}) // to a loop that is gone: no harm
	}
}

func closeListeners(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	k.send(frameOf(1, 1))
	k.expect(frameOf(1, 1))
	r.group.CloseListeners()
	eventually(t, "connections are refused", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	k.send(frameOf(2, 1))
	k.expect(frameOf(2, 1))
	r.group.CloseConns(nil, nil)
	k.atEnd()
	// The port can be bound again at once.
	if _, err := r.group.Listen(r.addr, 0, h); err != nil {
		t.Errorf("listening again: %v", err)
	}
	k = dial(t, r.addr)
	k.send(frameOf(3, 1))
	k.expect(frameOf(3, 1))
}

// twoThousand connections, all of them active.
func twoThousand(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{loops: 2})
	const n = 2000
	ks := make([]*client, n)
	for i := range ks {
		ks[i] = dial(t, r.addr)
	}
	eventually(t, "all are open", func() bool { return h.opens.Load() == n })
	for _, l := range r.loops {
		if used := l.Pool().Used(); used != 0 {
			t.Errorf("idle connections hold %d bytes", used)
		}
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := range 5 {
				for i := w; i < n; i += 8 {
					ks[i].send(frameOf(byte(i+round), i%300))
				}
				for i := w; i < n; i += 8 {
					ks[i].expect(frameOf(byte(i+round), i%300))
				}
			}
		}()
	}
	wg.Wait()
	// All at once, then all gone at once.
	for i := range ks {
		ks[i].send(frameOf(byte(i), 20))
	}
	for i := range ks {
		ks[i].expect(frameOf(byte(i), 20))
		ks[i].Close()
	}
	eventually(t, "all have ended", func() bool { return r.group.Conns() == 0 })
}

// churn opens and closes connections all the time.
func churn(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{loops: 2})
	for _, l := range r.loops {
		onLoop(l, func() {})
	}
	before := openFds()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 250 {
				c, err := net.Dial("tcp", r.addr)
				if err != nil {
					t.Error(err)
					return
				}
				if i%3 > 0 {
					b := frameOf(byte(i), w*40)
					_, _ = c.Write(b)
					if _, err := io.ReadFull(c, b); err != nil {
						t.Error(err)
					}
				}
				c.Close()
			}
		}()
	}
	wg.Wait()
	eventually(t, "all have ended", func() bool { return r.group.Conns() == 0 && h.opens.Load() == 1000 })
	if n := openFds(); n > before+2 {
		t.Errorf("%d descriptors more than before", n-before)
	}
}
