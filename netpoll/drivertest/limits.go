package drivertest

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

func idleTimeout(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{limits: netpoll.Limits{IdleTimeout: 1200 * time.Millisecond}})
	idle, active := dial(t, r.addr), dial(t, r.addr)
	idle.send(frameOf(1, 5))
	idle.expect(frameOf(1, 5))
	start := time.Now()
	for range 30 {
		active.send(frameOf(2, 5))
		active.expect(frameOf(2, 5))
		time.Sleep(100 * time.Millisecond)
	}
	idle.atEnd()
	if h.ends.Load() != 1 || !errors.Is(h.anyEnd(), netpoll.ErrIdle) {
		t.Errorf("%d connections ended, with %v", h.ends.Load(), h.anyEnd())
	}
	active.atEnd()
	if d := time.Since(start); d < 4*time.Second || d > 8*time.Second {
		t.Errorf("the active connection ended after %v", d)
	}
}

// busyIsNotIdle: a connection whose answer is still owed stays open, one that does not take its answer does not.
func busyIsNotIdle(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	big := make([]byte, 64<<20)
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		c.SetBusy(true)
		if len(b.B) > 10 {
			b.Release()
			o := c.Loop().NewOut()
			o.AddMem(big, nil)
			c.Send(o)
			return
		}
		tm := &netpoll.Timer{Fire: timerFunc(func() { echo(c, b); c.SetBusy(false) })}
		c.Loop().SetTimer(tm, c.Loop().NowNs()+int64(3500*time.Millisecond))
	}
	r := newRig(t, f, h, rigOptions{limits: netpoll.Limits{IdleTimeout: 1100 * time.Millisecond}, sndbuf: 64 << 10})
	parked, stuck := dial(t, r.addr), dial(t, r.addr)
	parked.send(frameOf(1, 5))
	stuck.send(frameOf(2, 50))
	parked.expect(frameOf(1, 5))
	eventually(t, "the peer that takes nothing is closed", func() bool { return h.ends.Load() >= 1 })
	if !errors.Is(h.anyEnd(), netpoll.ErrIdle) {
		t.Errorf("ended with %v", h.anyEnd())
	}
}

func preRequestTimeout(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{limits: netpoll.Limits{PreRequestTimeout: 1200 * time.Millisecond}})
	silent, trickle, good := dial(t, r.addr), dial(t, r.addr), dial(t, r.addr)
	good.send(frameOf(1, 5))
	good.expect(frameOf(1, 5))
	b := frameOf(1, 100)
	for i := range 25 {
		if _, err := trickle.Write(b[i : i+1]); err != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	silent.atEnd()
	trickle.atEnd()
	good.send(frameOf(1, 5))
	good.expect(frameOf(1, 5))
	if !errors.Is(h.anyEnd(), netpoll.ErrNoRequest) {
		t.Errorf("ended with %v", h.anyEnd())
	}
}

func maxPerIP(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{loops: 2, limits: netpoll.Limits{MaxPerIP: 100,
		PerIP: map[netip.Addr]int{netip.MustParseAddr("127.0.0.1"): 3}}})
	var ks []*client
	for i := range 3 {
		k := dial(t, r.addr)
		k.send(frameOf(byte(i), 5))
		k.expect(frameOf(byte(i), 5))
		ks = append(ks, k)
	}
	for range 5 {
		dial(t, r.addr).atEnd()
	}
	if r.group.Refused() != 5 {
		t.Errorf("%d refused", r.group.Refused())
	}
	// Another address has its own count.
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c, err := d.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other := &client{t, c.(*net.TCPConn)}
	other.send(frameOf(9, 5))
	other.expect(frameOf(9, 5))
	ks[0].Close()
	eventually(t, "a place is free", func() bool { return r.group.Conns() == 3 })
	k := dial(t, r.addr)
	k.send(frameOf(4, 5))
	k.expect(frameOf(4, 5))
}

// maxConns: at the bound new connections wait, as in Kafka, and are served when others end.
func maxConns(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{loops: 2, limits: netpoll.Limits{MaxConns: 4}})
	var ks []*client
	for i := range 4 {
		k := dial(t, r.addr)
		k.send(frameOf(byte(i), 5))
		k.expect(frameOf(byte(i), 5))
		ks = append(ks, k)
	}
	more := dial(t, r.addr) // stays in the backlog
	more.send(frameOf(7, 5))
	_ = more.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := io.ReadFull(more, make([]byte, 1)); err == nil {
		t.Error("a connection above the bound was served")
	}
	_ = more.SetReadDeadline(time.Now().Add(10 * time.Second))
	ks[1].Close()
	more.expect(frameOf(7, 5))
	if n := r.group.Conns(); n != 4 {
		t.Errorf("%d connections", n)
	}
}

// outOfDescriptors: accept waits and recovers, without spinning, while open connections are served.
func outOfDescriptors(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{})
	k := dial(t, r.addr)
	k.send(frameOf(1, 5))
	k.expect(frameOf(1, 5))
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	// Sockets of peers whose server sides then find no descriptor: two, since io_uring goes by the limit that was in
	// force when an accept was submitted.
	var fds [2]int
	for i := range fds {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		fds[i] = fd
	}
	low := old
	low.Cur = uint64(max(fds[0], fds[1])) // no number below is free, none above allowed
	var filler []int
	for {
		n, err := unix.Dup(fds[0])
		if err != nil {
			t.Fatal(err)
		}
		if n > int(low.Cur) {
			unix.Close(n)
			break
		}
		filler = append(filler, n)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	restore := func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &old) }
	defer restore()
	ap := netip.MustParseAddrPort(r.addr)
	for _, fd := range fds {
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	turns := func() (n int64) {
		onLoop(r.loops[0], func() { n = r.loops[0].Turns() })
		return n
	}
	before := turns()
	time.Sleep(300 * time.Millisecond)
	if n := turns() - before; n > 60 {
		t.Errorf("%d turns while accept fails", n)
	}
	if h.opens.Load() > 2 {
		t.Errorf("%d connections were opened", h.opens.Load())
	}
	k.send(frameOf(2, 5))
	k.expect(frameOf(2, 5))
	restore()
	for _, n := range filler {
		unix.Close(n)
	}
	eventually(t, "all connections are accepted", func() bool { return h.opens.Load() == 3 })
}

// lateConnectionIsWatched: a connection that comes while all others are far from due is closed in time.
func lateConnectionIsWatched(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{limits: netpoll.Limits{IdleTimeout: time.Hour, PreRequestTimeout: 1100 * time.Millisecond}})
	k := dial(t, r.addr)
	k.send(frameOf(1, 5))
	k.expect(frameOf(1, 5))
	time.Sleep(1500 * time.Millisecond)
	start := time.Now()
	late := dial(t, r.addr)
	late.atEnd()
	if d := time.Since(start); d > 4*time.Second {
		t.Errorf("closed after %v", d)
	}
	// A limit that is lowered applies to those who are there.
	l := r.group.Limits()
	l.IdleTimeout = time.Second
	r.group.SetLimits(l)
	k.atEnd()
}

// addresses: a wildcard listener serves IPv4 and IPv6, knows its peers by addresses that compare, and its connections
// send small messages at once.
func addresses(t *testing.T, f netpoll.DriverFactory) {
	infos := make(chan netpoll.ConnInfo, 10)
	h := &handler{opened: func(c *netpoll.Conn) { infos <- c.Info() }}
	r := newRig(t, f, h, rigOptions{})
	a, err := r.group.Listen(":0", 7, h)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(a.String())
	hosts := []string{"127.0.0.1"}
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		l.Close()
		hosts = append(hosts, "::1")
	}
	for _, host := range hosts {
		k := dial(t, net.JoinHostPort(host, port))
		k.send(frameOf(1, 10))
		k.expect(frameOf(1, 10))
		info := <-infos
		if info.Remote.String() != k.LocalAddr().String() || info.Local.String() != k.RemoteAddr().String() || info.Listener != 7 {
			t.Errorf("%s: %+v, dialled from %s to %s", host, info, k.LocalAddr(), k.RemoteAddr())
		}
		found := false
		for fd := 3; fd < 5000; fd++ {
			local, err := unix.Getsockname(fd)
			if err != nil {
				continue
			}
			peer, err := unix.Getpeername(fd)
			if err != nil || portOf(peer) != int(info.Remote.Port()) || portOf(local) != int(info.Local.Port()) {
				continue
			}
			found = true
			if v, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || v == 0 {
				t.Errorf("%s: TCP_NODELAY is %d, %v", host, v, err)
			}
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK == 0 {
				t.Errorf("%s: the socket blocks (%v)", host, err)
			}
		}
		if !found {
			t.Errorf("%s: the server's socket was not found", host)
		}
	}
	if _, err := r.group.Listen(a.String(), 0, h); err == nil {
		t.Error("a port that is taken was bound again")
	}
}

func portOf(sa unix.Sockaddr) int {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return a.Port
	case *unix.SockaddrInet6:
		return a.Port
	}
	return -1
}
