package drivertest

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// memoryBudget: many connections send more than the budget holds; all are served, and buffers are released by another
// goroutine, so that no wake-up may be lost.
func memoryBudget(t *testing.T, f netpoll.DriverFactory) {
	free := make(chan func(), 1000)
	go func() {
		for fn := range free {
			time.Sleep(50 * time.Microsecond)
			fn()
		}
	}()
	var most int64
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		most = max(most, c.Loop().Pool().Used())
		n := binary.BigEndian.Uint32(b.B)
		l := c.Loop()
		free <- func() {
			b.Release()
			l.PostFunc(func() {
				o := l.NewOut()
				o.AddMem(binary.BigEndian.AppendUint32(nil, n), nil)
				c.Send(o)
			})
		}
	}
	const budget = 2 << 20
	r := newRig(t, f, h, rigOptions{budget: budget})
	var wg sync.WaitGroup
	for w := range 24 {
		k := dial(t, r.addr)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 30 {
				n := []int{100, 10 << 10, 100 << 10, 500 << 10}[(i+w)%4]
				k.send(frameOf(byte(w), n))
				if got := binary.BigEndian.Uint32(k.readN(4)); got != uint32(n) {
					t.Errorf("answer %d to a frame of %d", got, n)
				}
			}
		}()
	}
	wg.Wait()
	onLoop(r.loops[0], func() {})
	close(free)
	if most > budget+24*20<<10 {
		t.Errorf("%d bytes were in use, the budget is %d", most, budget)
	}
}

// bigFrameIsNotStarved: a frame of the budget's size gets its turn while small ones keep coming.
func bigFrameIsNotStarved(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		tm := &netpoll.Timer{Fire: timerFunc(func() { echo(c, b) })}
		c.Loop().SetTimer(tm, c.Loop().NowNs()+2_000_000)
	}
	r := newRig(t, f, h, rigOptions{budget: 1 << 20})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 8 {
		k := dial(t, r.addr)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				k.send(frameOf(byte(i), 150<<10))
				k.expect(frameOf(byte(i), 150<<10))
			}
		}()
	}
	time.Sleep(50 * time.Millisecond)
	k := dial(t, r.addr)
	for _, n := range []int{900 << 10, 2 << 20} { // the second is larger than the budget: it must be alone, but it gets through
		b := frameOf(9, n)
		go k.send(b)
		k.expect(b)
	}
	close(stop)
	wg.Wait()
}

// announcedFramesHoldLittle: peers that announce big frames and send nothing of them do not use up the budget.
func announcedFramesHoldLittle(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, &handler{}, rigOptions{budget: 8 << 20})
	for i := range 100 {
		k := dial(t, r.addr)
		b := binary.BigEndian.AppendUint32(nil, 50<<20)
		k.send(append(b, byte(i)))
	}
	k := dial(t, r.addr)
	for i := range 20 {
		b := frameOf(byte(i), 1<<20)
		go k.send(b)
		k.expect(b)
	}
}

// slowFrameUnderPressure: a connection that holds the budget with a frame that does not grow is closed once others wait.
func slowFrameUnderPressure(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{budget: 4 << 20})
	bad := dial(t, r.addr)
	bad.send(frameOf(1, 3<<20)[:100<<10])
	time.Sleep(20 * time.Millisecond)
	k := dial(t, r.addr)
	b := frameOf(2, 3<<20)
	go k.send(b)
	k.expect(b)
	bad.atEnd()
	if !errors.Is(h.anyEnd(), netpoll.ErrSlowFrame) {
		t.Errorf("ended with %v", h.anyEnd())
	}
}

// waiterGivesUp: when the first of those who wait for memory is closed, the next ones are looked at.
func waiterGivesUp(t *testing.T, f netpoll.DriverFactory) {
	var held []*bufpool.Buf
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		if len(b.B) > 500<<10 {
			held = append(held, b)
			return
		}
		echo(c, b)
	}
	r := newRig(t, f, h, rigOptions{budget: 1 << 20})
	a, b, c := dial(t, r.addr), dial(t, r.addr), dial(t, r.addr)
	a.send(frameOf(1, 700<<10))
	eventually(t, "the first frame is held", func() bool { return h.frames.Load() == 1 })
	b.send(frameOf(2, 10<<10)) // from now on it gets its memory at once
	b.expect(frameOf(2, 10<<10))
	for _, x := range frameOf(2, 900<<10)[:4] { // byte by byte: it holds nothing whose release would be noticed
		b.send([]byte{x})
		time.Sleep(5 * time.Millisecond)
	}
	small := frameOf(3, 100<<10)
	c.send(small) // waits behind it
	time.Sleep(20 * time.Millisecond)
	if n := h.frames.Load(); n != 2 {
		t.Errorf("%d frames: the big one was overtaken", n)
	}
	port := b.LocalAddr().(*net.TCPAddr).Port
	r.group.CloseConns(func(c *netpoll.Conn) bool { return int(c.Info().Remote.Port()) == port }, errors.New("enough"))
	c.expect(small)
	onLoop(r.loops[0], func() {
		for _, b := range held {
			b.Release()
		}
	})
}
