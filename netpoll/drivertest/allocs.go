package drivertest

import (
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// pingPongAllocates: a steady exchange of small and big frames, file writes and file sends allocates nothing.
func pingPongAllocates(t *testing.T, f netpoll.DriverFactory) {
	if raceEnabled {
		t.Log("allocations are not counted under the race detector; the exchange itself is run")
	}
	file := tempFile(t)
	h := &handler{}
	op := &netpoll.Op{Kind: netpoll.OpWritev, File: file, Iov: make([][]byte, 1)}
	var conn *netpoll.Conn
	var got *bufpool.Buf
	op.Done = opFunc(func(op *netpoll.Op) {
		if op.Err != nil {
			t.Error(op.Err)
		}
		o := conn.Loop().NewOut()
		o.AddMem(got.B[:4], got)
		o.AddFile(file, 4, int64(len(got.B)-4), nil)
		conn.Send(o)
	})
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		if len(b.B) < 1000 {
			echo(c, b)
			return
		}
		conn, got = c, b
		op.Iov[0] = b.B
		c.Loop().Submit(op)
	}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	for _, n := range []int{100, 10 << 10, 200 << 10} {
		msg, ans := frameOf(1, n), make([]byte, 4+n)
		once := func() {
			if _, err := k.Write(msg); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(k, ans); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			once()
		}
		if a := testing.AllocsPerRun(300, once); a != 0 && !raceEnabled {
			t.Errorf("%v allocations per exchange of %d bytes", a, n)
		}
		if string(ans) != string(msg) {
			t.Errorf("other bytes came back")
		}
	}
}

// collectorGoesOn: busy loops, spinning included, do not hold up the garbage collector.
func collectorGoesOn(t *testing.T, f netpoll.DriverFactory) {
	old := runtime.GOMAXPROCS(4) // loops + 2
	defer runtime.GOMAXPROCS(old)
	r := newRig(t, f, &handler{}, rigOptions{loops: 2})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		k := dial(t, r.addr)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					k.send(frameOf(byte(i), 50))
					k.expect(frameOf(byte(i), 50))
				}
			}
		}()
	}
	start := time.Now()
	for range 20 {
		runtime.GC()
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("20 collections took %v", d)
	}
	close(stop)
	wg.Wait()
}
