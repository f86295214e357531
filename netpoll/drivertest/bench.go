package drivertest

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

const (
	benchFrame = 1 << 20
	benchFile  = 64 << 20 // writes go round in a file of this size
)

// Bench runs the three shapes that matter on a driver: a small exchange, 1 MiB frames written to a file, and 1 MiB
// file ranges sent. Beside each stands a floor: plain blocking system calls on a locked thread, without any loop.
func Bench(b *testing.B, f netpoll.DriverFactory) {
	for _, c := range []struct {
		name   string
		client func(b *testing.B, k *client)
		loop   func(file *osFile) func(*netpoll.Conn, *bufpool.Buf)
		raw    func(fd int, file *osFile)
	}{
		{"PingPong1K", pingPong, loopSmall, rawSmall},
		{"Produce1M", produce, loopProduce, rawProduce},
		{"Fetch1M", fetch, loopFetch, rawFetch},
	} {
		b.Run(c.name+"/loop", func(b *testing.B) {
			l, err := netpoll.NewLoop(netpoll.LoopOptions{Driver: f, Pool: bufpool.New(256 << 20)})
			if err != nil {
				b.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- l.Run() }()
			g, err := netpoll.NewGroup(netpoll.GroupOptions{Loops: []*netpoll.Loop{l}, Congestion: "cubic"})
			if err != nil {
				b.Fatal(err)
			}
			a, err := g.Listen("127.0.0.1:0", 0, &handler{frame: c.loop(benchTemp(b))})
			if err != nil {
				b.Fatal(err)
			}
			k := benchDial(b, a.String())
			var cpu, turns int64
			onLoop(l, func() { cpu, turns = -threadCPU(), -l.Turns() })
			c.client(b, k)
			onLoop(l, func() { cpu, turns = cpu+threadCPU(), turns+l.Turns() })
			b.ReportMetric(float64(cpu)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(turns)/float64(b.N), "turns/op")
			l.Stop()
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		})
		b.Run(c.name+"/raw", func(b *testing.B) {
			file := benchTemp(b)
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer ln.Close()
			cpu := make(chan int64, 1)
			go func() {
				runtime.LockOSThread()
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				f, _ := conn.(*net.TCPConn).File()
				conn.Close()
				defer f.Close()
				fd := int(f.Fd())
				_ = unix.SetNonblock(fd, false)
				_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
				start := threadCPU()
				c.raw(fd, file)
				cpu <- threadCPU() - start
			}()
			k := benchDial(b, ln.Addr().String())
			c.client(b, k)
			k.Close()
			b.ReportMetric(float64(<-cpu)/float64(b.N), "cpu-ns/op")
		})
	}
}

// threadCPU is the processor time of the calling thread in nanoseconds.
func threadCPU() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano()
}

func benchTemp(b *testing.B) *osFile {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if _, err := f.Write(make([]byte, benchFile)); err != nil {
		b.Fatal(err)
	}
	return &osFile{File: f}
}

func benchDial(b *testing.B, addr string) *client {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return &client{nil, c.(*net.TCPConn)}
}

func pingPong(b *testing.B, k *client) {
	req, ans := frameOf(1, 1020), make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Write(req); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(k, ans); err != nil {
			b.Fatal(err)
		}
	}
}

// window is how many requests are under way.
const window = 4

func produce(b *testing.B, k *client) {
	req := frameOf(1, benchFrame-4)
	_ = control(k, func(fd int) { _ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic") })
	stream(b, k, req, make([]byte, 64))
}

func fetch(b *testing.B, k *client) { stream(b, k, frameOf(1, 60), make([]byte, 64+benchFrame)) }

func stream(b *testing.B, k *client, req, ans []byte) {
	b.SetBytes(benchFrame)
	b.ReportAllocs()
	slots := make(chan struct{}, window)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range slots {
			if _, err := k.Write(req); err != nil {
				b.Error(err)
				return
			}
		}
	}()
	under := 0
	take := func() {
		if _, err := io.ReadFull(k, ans); err != nil {
			b.Fatal(err)
		}
		under--
	}
	for b.Loop() {
		slots <- struct{}{}
		if under++; under == window {
			take()
		}
	}
	for under > 0 {
		take()
	}
	close(slots)
	<-done
}

func control(k *client, fn func(fd int)) error {
	rc, err := k.SyscallConn()
	if err != nil {
		return err
	}
	return rc.Control(func(fd uintptr) { fn(int(fd)) })
}

func reply(c *netpoll.Conn) {
	o := c.Loop().NewOut()
	o.AddMem(benchAnswer[:], nil)
	c.Send(o)
}

var benchAnswer [64]byte

func loopSmall(*osFile) func(*netpoll.Conn, *bufpool.Buf) {
	return func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		reply(c)
	}
}

// writing is a write of a frame under way.
type writing struct {
	op   netpoll.Op
	iov  [1][]byte
	c    *netpoll.Conn
	b    *bufpool.Buf
	free *[]*writing
}

// OpDone answers.
func (w *writing) OpDone(op *netpoll.Op) {
	if op.Err != nil {
		w.c.Close(op.Err)
	}
	w.b.Release()
	reply(w.c)
	*w.free = append(*w.free, w)
}

func loopProduce(f *osFile) func(*netpoll.Conn, *bufpool.Buf) {
	var free []*writing
	off := int64(0)
	return func(c *netpoll.Conn, b *bufpool.Buf) {
		var w *writing
		if n := len(free); n > 0 {
			w, free = free[n-1], free[:n-1]
		} else {
			w = &writing{free: &free}
			w.op = netpoll.Op{Kind: netpoll.OpWritev, File: f, Iov: w.iov[:], Done: w}
		}
		w.c, w.b, w.iov[0] = c, b, b.B
		w.op.Off = off
		off = (off + benchFrame) % benchFile
		c.Loop().Submit(&w.op)
	}
}

func loopFetch(f *osFile) func(*netpoll.Conn, *bufpool.Buf) {
	off := int64(0)
	return func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		o := c.Loop().NewOut()
		o.AddMem(benchAnswer[:], nil)
		o.AddFile(f, off, benchFrame, nil)
		off = (off + benchFrame) % benchFile
		c.Send(o)
	}
}

// readFull reads len(b) bytes or fails.
func readFull(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := unix.Read(fd, b)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

func rawFrame(fd int, buf []byte) bool {
	return readFull(fd, buf[:4]) && readFull(fd, buf[4:4+binary.BigEndian.Uint32(buf)])
}

func rawSmall(fd int, _ *osFile) {
	buf := make([]byte, benchFrame)
	for {
		if n, err := unix.Read(fd, buf); n <= 0 || err != nil {
			return
		}
		if _, err := unix.Write(fd, benchAnswer[:]); err != nil {
			return
		}
	}
}

func rawProduce(fd int, f *osFile) {
	buf := make([]byte, benchFrame)
	for off := int64(0); rawFrame(fd, buf); off = (off + benchFrame) % benchFile {
		if _, err := unix.Pwrite(f.Fd(), buf, off); err != nil {
			return
		}
		if _, err := unix.Write(fd, benchAnswer[:]); err != nil {
			return
		}
	}
}

func rawFetch(fd int, f *osFile) {
	buf := make([]byte, 64)
	for at := int64(0); rawFrame(fd, buf); at = (at + benchFrame) % benchFile {
		if unix.Send(fd, benchAnswer[:], unix.MSG_MORE) != nil {
			return
		}
		for off := at; off < at+benchFrame; {
			if n, err := unix.Sendfile(fd, f.Fd(), &off, int(at+benchFrame-off)); n <= 0 || err != nil {
				return
			}
		}
	}
}
