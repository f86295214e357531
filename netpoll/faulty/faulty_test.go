package faulty

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace/netpoll"
	"millrace/netpoll/drivertest"
	"millrace/netpoll/epoll"
)

type file struct{ *os.File }

func (f file) WritevAt(bufs [][]byte, off int64) (n int64, err error) {
	for _, b := range bufs {
		k, err := f.WriteAt(b, off+n)
		if n += int64(k); err != nil {
			return n, err
		}
	}
	return n, nil
}
func (f file) Datasync() error             { return unix.Fdatasync(f.Fd()) }
func (f file) Size() (int64, error)        { return 0, nil }
func (f file) Allocate(int64, int64) error { return nil }
func (f file) Fd() int                     { return int(f.File.Fd()) }

type done chan struct{}

func (d done) OpDone(*netpoll.Op) { close(d) }

func do(l *netpoll.Loop, op *netpoll.Op) (int64, error) {
	d := make(done)
	op.Done = d
	l.PostFunc(func() { l.Submit(op) })
	<-d
	return op.N, op.Err
}

func TestRules(t *testing.T) {
	p := &Plan{}
	l, err := netpoll.NewLoop(netpoll.LoopOptions{Driver: Wrap(epoll.Factory(), p)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- l.Run() }()
	osf, err := os.Create(filepath.Join(t.TempDir(), "x.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer osf.Close()
	f := file{osf}
	write := func(off int64, s string) (int64, error) {
		return do(l, &netpoll.Op{Kind: netpoll.OpWritev, File: f, Off: off, Iov: [][]byte{[]byte(s[:2]), []byte(s[2:])}})
	}
	p.Add(Rule{Kind: netpoll.OpWritev, After: 1, Err: syscall.ENOSPC, Wrote: 3})
	if n, err := write(0, "aaaaa"); n != 5 || err != nil {
		t.Errorf("first write: %d, %v", n, err)
	}
	if n, err := write(5, "bbbbb"); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("second write: %d, %v", n, err)
	}
	if n, err := write(5, "ccccc"); n != 5 || err != nil {
		t.Errorf("third write: %d, %v", n, err)
	}
	if b, _ := os.ReadFile(osf.Name()); string(b) != "aaaaaccccc" {
		t.Errorf("the file holds %q", b)
	}
	p.Clear()
	p.Add(Rule{Kind: netpoll.OpDatasync, Times: -1, Err: syscall.EIO, Match: func(op *netpoll.Op) bool {
		return strings.HasSuffix(op.File.Name(), ".log")
	}})
	for range 3 {
		if _, err := do(l, &netpoll.Op{Kind: netpoll.OpDatasync, File: f}); !errors.Is(err, syscall.EIO) {
			t.Errorf("sync: %v", err)
		}
	}
	p.Clear()
	p.Add(Rule{Delay: 50 * time.Millisecond})
	start := time.Now()
	if n, err := write(0, "ddddd"); n != 5 || err != nil || time.Since(start) < 50*time.Millisecond {
		t.Errorf("delayed write: %d, %v after %v", n, err, time.Since(start))
	}
	if p.Hits() != 5 {
		t.Errorf("%d hits", p.Hits())
	}
	l.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// With no rule in force the wrapped driver is a driver like any other.
func TestConformance(t *testing.T) { drivertest.RunFiles(t, Wrap(epoll.Factory(), &Plan{})) }
