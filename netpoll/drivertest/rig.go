package drivertest

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// cases is the suite. Those that wait for timeouts run beside each other, after the others.
var cases = []struct {
	name        string
	fn          func(*testing.T, netpoll.DriverFactory)
	slow, files bool
}{
	{name: "FrameAtEverySplit", fn: frameAtEverySplit},
	{name: "FrameSizes", fn: frameSizes},
	{name: "Pipelining", fn: pipelining},
	{name: "PauseInsideChunk", fn: pauseInsideChunk},
	{name: "PauseInsideFrame", fn: pauseInsideFrame},
	{name: "BadFrameCloses", fn: badFrameCloses},
	{name: "BadFrameAfterGoodOnes", fn: badFrameAfterGoodOnes},
	{name: "HeaderBytewise", fn: headerBytewise},
	{name: "SegmentsInOrder", fn: segmentsInOrder},
	{name: "SegmentsCopied", fn: segmentsCopied},
	{name: "SlowReader", fn: slowReader},
	{name: "SlowReaderCopied", fn: slowReaderCopied},
	{name: "ColdRanges", fn: coldRanges, files: true},
	{name: "ColdRangesCopied", fn: coldRangesCopied, files: true},
	{name: "ShortFile", fn: shortFile},
	{name: "FileOps", fn: fileOps, files: true},
	{name: "FileErrors", fn: fileErrors, files: true},
	{name: "WriteBehindColdPage", fn: writeBehindColdPage, files: true},
	{name: "SyncsInParallel", fn: syncsInParallel, files: true},
	{name: "NeverNested", fn: neverNested, files: true},
	{name: "OneTurn", fn: oneTurn},
	{name: "TimerOrder", fn: timerOrder},
	{name: "MailboxStorm", fn: mailboxStorm},
	{name: "LoopsPostToEachOther", fn: loopsPostToEachOther},
	{name: "Offload", fn: offload},
	{name: "IdleUsesNoTurns", fn: idleUsesNoTurns},
	{name: "ClockAfterSleep", fn: clockAfterSleep, slow: true},
	{name: "IdleTimeout", fn: idleTimeout, slow: true},
	{name: "BusyIsNotIdle", fn: busyIsNotIdle, slow: true},
	{name: "PreRequestTimeout", fn: preRequestTimeout, slow: true},
	{name: "LateConnectionIsWatched", fn: lateConnectionIsWatched, slow: true},
	{name: "Addresses", fn: addresses},
	{name: "MaxPerIP", fn: maxPerIP},
	{name: "MaxConns", fn: maxConns},
	{name: "OutOfDescriptors", fn: outOfDescriptors},
	{name: "HalfClose", fn: halfClose},
	{name: "CloseNilFlushes", fn: closeNilFlushes},
	{name: "Reset", fn: reset},
	{name: "CloseDuringSend", fn: closeDuringSend},
	{name: "StopInFlight", fn: stopInFlight},
	{name: "CloseListeners", fn: closeListeners},
	{name: "TwoThousand", fn: twoThousand},
	{name: "Churn", fn: churn},
	{name: "MemoryBudget", fn: memoryBudget},
	{name: "BigFrameIsNotStarved", fn: bigFrameIsNotStarved},
	{name: "WaiterGivesUp", fn: waiterGivesUp},
	{name: "AnnouncedFramesHoldLittle", fn: announcedFramesHoldLittle},
	{name: "SlowFrameUnderPressure", fn: slowFrameUnderPressure, slow: true},
	{name: "CollectorGoesOn", fn: collectorGoesOn},
	{name: "PingPongAllocates", fn: pingPongAllocates},
}

// Run runs the whole suite on a driver.
func Run(t *testing.T, f netpoll.DriverFactory) { run(t, f, false) }

// RunFiles runs the part of the suite that is about file operations.
func RunFiles(t *testing.T, f netpoll.DriverFactory) { run(t, f, true) }

func run(t *testing.T, f netpoll.DriverFactory, files bool) {
	if f.Probe != nil {
		if err := f.Probe(); err != nil {
			t.Fatalf("the driver cannot be used on this machine: %v", err)
		}
	}
	for _, c := range cases {
		if files && !c.files {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if c.slow {
				t.Parallel()
			}
			c.fn(t, f)
		})
	}
}

// rig is running loops with a group in front. Owned by its test.
type rig struct {
	t     *testing.T
	loops []*netpoll.Loop
	group *netpoll.Group
	addr  string
	wg    sync.WaitGroup
	fds   int
	once  sync.Once
}

type rigOptions struct {
	loops  int
	budget int64
	limits netpoll.Limits
	sndbuf int
	mode   netpoll.AppendMode
	copied bool // netpoll.LoopOptions.CopyFiles
	spinUs int
}

func newRig(t *testing.T, f netpoll.DriverFactory, h netpoll.Handler, o rigOptions) *rig {
	t.Helper()
	if o.loops == 0 {
		o.loops = 1
	}
	if o.budget == 0 {
		o.budget = 256 << 20
	}
	r := &rig{t: t, fds: openFds()}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	for i := range o.loops {
		l, err := netpoll.NewLoop(netpoll.LoopOptions{Index: i, Driver: f, Pool: bufpool.New(o.budget), AppendMode: o.mode, CopyFiles: o.copied, SpinUs: o.spinUs, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		r.loops = append(r.loops, l)
		r.wg.Add(1)
		go func() {
			defer r.wg.Done()
			if err := l.Run(); err != nil {
				t.Errorf("loop %d: %v", i, err)
			}
		}()
	}
	if h != nil {
		g, err := netpoll.NewGroup(netpoll.GroupOptions{Loops: r.loops, Limits: o.limits, SendBuffer: o.sndbuf, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		a, err := g.Listen("127.0.0.1:0", 3, h)
		if err != nil {
			t.Fatal(err)
		}
		r.group, r.addr = g, a.String()
	}
	t.Cleanup(r.stop)
	return r
}

// stop ends all loops and checks that nothing is left behind.
func (r *rig) stop() {
	r.once.Do(func() {
		for _, l := range r.loops {
			l.Stop()
		}
		done := make(chan struct{})
		go func() { r.wg.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			r.t.Error("the loops do not stop")
			return
		}
		if r.group != nil && r.group.Conns() != 0 {
			r.t.Errorf("%d connections are still counted after the stop", r.group.Conns())
		}
		for _, l := range r.loops {
			if n := l.Pool().Used(); n != 0 {
				r.t.Errorf("loop %d: %d bytes of buffers were not released", l.Index(), n)
			}
		}
	})
}

// onLoop runs fn on a loop and waits for it.
func onLoop(l *netpoll.Loop, fn func()) {
	done := make(chan struct{})
	l.PostFunc(func() { fn(); close(done) })
	<-done
}

func openFds() int {
	es, _ := os.ReadDir("/proc/self/fd")
	return len(es)
}

// eventually waits until ok says yes.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("did not happen in 15 s: %s", what)
}

// handler frames by a 4-byte length and does with a frame what frame says; it echoes by default.
type handler struct {
	max    int
	opened func(c *netpoll.Conn)
	frame  func(c *netpoll.Conn, b *bufpool.Buf)
	closed func(c *netpoll.Conn, err error)

	frames, opens, ends atomic.Int64
	ended               sync.Map // connection id -> error, or nil as errNone
}

type none struct{}

func (none) Error() string { return "none" }

func (h *handler) Opened(c *netpoll.Conn) error {
	h.opens.Add(1)
	if h.opened != nil {
		h.opened(c)
	}
	return nil
}

func (h *handler) FrameLen(_ *netpoll.Conn, head []byte) (int, error) {
	if len(head) < 4 {
		return 0, nil
	}
	n := int(binary.BigEndian.Uint32(head))
	limit := h.max
	if limit == 0 {
		limit = 128 << 20
	}
	if n > limit {
		return 0, fmt.Errorf("frame of %d bytes", n)
	}
	return 4 + n, nil
}

func (h *handler) Frame(c *netpoll.Conn, b *bufpool.Buf) {
	h.frames.Add(1)
	if h.frame != nil {
		h.frame(c, b)
		return
	}
	echo(c, b)
}

func (h *handler) Closed(c *netpoll.Conn, err error) {
	h.ends.Add(1)
	if err == nil {
		h.ended.Store(c.Info().ID, none{})
	} else {
		h.ended.Store(c.Info().ID, err)
	}
	if h.closed != nil {
		h.closed(c, err)
	}
}

// endedWith waits for a connection to end with an error that is, or wraps, want.
func (h *handler) anyEnd() error {
	var err error
	h.ended.Range(func(_, v any) bool { err = v.(error); return false })
	return err
}

func echo(c *netpoll.Conn, b *bufpool.Buf) {
	o := c.Loop().NewOut()
	o.AddMem(b.B, b)
	c.Send(o)
}

// client is a peer with plain blocking calls.
type client struct {
	t *testing.T
	*net.TCPConn
}

func dial(t *testing.T, addr string) *client {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	k := &client{t, c.(*net.TCPConn)}
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	t.Cleanup(func() { c.Close() })
	return k
}

// frameOf is n bytes of payload with their length in front; the bytes depend on seed.
func frameOf(seed byte, n int) []byte {
	b := make([]byte, 4+n)
	binary.BigEndian.PutUint32(b, uint32(n))
	x := uint32(seed)*2654435761 + 12345
	for i := 4; i < len(b); i++ {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func (k *client) send(b []byte) {
	k.t.Helper()
	if _, err := k.Write(b); err != nil {
		k.t.Fatalf("send: %v", err)
	}
}

func (k *client) readN(n int) []byte {
	k.t.Helper()
	b := make([]byte, n)
	if m, err := io.ReadFull(k, b); err != nil {
		k.t.Fatalf("received %d of %d bytes: %v", m, n, err)
	}
	return b
}

func (k *client) expect(want []byte) {
	k.t.Helper()
	got := k.readN(len(want))
	if string(got) != string(want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		k.t.Fatalf("other bytes than expected, from %d of %d on", i, len(want))
	}
}

// atEnd expects the end of the stream or a reset.
func (k *client) atEnd() {
	k.t.Helper()
	var b [1]byte
	if n, err := k.Read(b[:]); n != 0 || err == nil {
		k.t.Fatalf("expected the end of the stream, got %d bytes and %v", n, err)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		k.t.Fatal("the connection is still open")
	}
}

// settle gives the machine's other threads a moment.
func settle() {
	runtime.Gosched()
	time.Sleep(300 * time.Microsecond)
}
