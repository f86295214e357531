package netpoll_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace/internal/bufpool"
	"millrace/netpoll"
	"millrace/netpoll/epoll"
)

// silent takes connections and expects nothing from them.
type silent struct{}

func (silent) Opened(*netpoll.Conn) error                  { return nil }
func (silent) FrameLen(*netpoll.Conn, []byte) (int, error) { return 0, nil }
func (silent) Frame(_ *netpoll.Conn, b *bufpool.Buf)       { b.Release() }
func (silent) Closed(*netpoll.Conn, error)                 {}

// Connections leave descriptors to the log: one that gets a number from the reserve is closed again.
func TestConnectionsLeaveDescriptors(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = 160 // connections have those below 140
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	l, err := netpoll.NewLoop(netpoll.LoopOptions{Driver: epoll.Factory()})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error)
	go func() { ran <- l.Run() }()
	defer func() { l.Stop(); <-ran }()
	g, err := netpoll.NewGroup(netpoll.GroupOptions{Loops: []*netpoll.Loop{l}})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := g.Listen("127.0.0.1:0", 0, silent{})
	if err != nil {
		t.Fatal(err)
	}
	for n, last := 1, uintptr(0); last < 140; n++ {
		c, err := net.Dial("tcp", addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) { last = fd })
		for begun := time.Now(); last < 138 && g.Conns() < n; time.Sleep(time.Millisecond) {
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("%d of %d connections were taken", g.Conns(), n)
			}
		}
		if last < 140 {
			continue
		}
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection that took a descriptor of the reserve stays: %v", err)
		}
	}
	f, err := os.Open(".")
	if err != nil {
		t.Fatalf("connections took all descriptors: %v", err)
	}
	f.Close()
}
