package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace/netpoll"
	"millrace/vfs"
)

type opFunc func(op *netpoll.Op)

func (f opFunc) OpDone(op *netpoll.Op) { f(op) }

// do carries out one operation and waits for it.
func do(l *netpoll.Loop, op *netpoll.Op) (int64, error) {
	done := make(chan struct{})
	op.Done = opFunc(func(*netpoll.Op) { close(done) })
	l.PostFunc(func() { l.Submit(op) })
	<-done
	return op.N, op.Err
}

func fileOps(t *testing.T, f netpoll.DriverFactory) {
	for _, mode := range []netpoll.AppendMode{netpoll.AppendAuto, netpoll.AppendInline, netpoll.AppendRing} {
		for _, file := range []vfs.File{tempFile(t), &memFile{}} {
			t.Run(fmt.Sprintf("mode%d-fd%v", mode, file.Fd() >= 0), func(t *testing.T) {
				r := newRig(t, f, nil, rigOptions{mode: mode})
				writeReadSync(t, r, file)
				r.stop()
			})
		}
	}
}

func writeReadSync(t *testing.T, r *rig, file vfs.File) {
	l := r.loops[0]
	var want []byte
	for i, iov := range [][][]byte{
		{noise(1, 100)},
		{noise(2, 70<<10), nil, noise(3, 1)},
		{nil, noise(4, 3), {}, {}, noise(5, 1<<20)},
		many(2500, 37),
		many(1024, 3),
		{noise(6, 5<<20), noise(7, 5)},
	} {
		buf := l.Pool().GetForce(16 << 20)
		n, off := 0, int64(len(want))
		for j := range iov { // ring operations name off-heap memory
			k := copy(buf.B[n:], iov[j])
			iov[j] = buf.B[n : n+k]
			n += k
		}
		want = append(want, buf.B[:n]...)
		got, err := do(l, &netpoll.Op{Kind: netpoll.OpWritev, File: file, Off: off, Iov: iov})
		if err != nil || got != int64(n) {
			t.Fatalf("write %d: %d of %d, %v", i, got, n, err)
		}
		buf.Release()
	}
	if _, err := do(l, &netpoll.Op{Kind: netpoll.OpDatasync, File: file}); err != nil {
		t.Fatalf("datasync: %v", err)
	}
	if m, ok := file.(*memFile); ok && m.syncs != 1 {
		t.Errorf("the file saw %d syncs", m.syncs)
	}
	buf := l.Pool().GetForce(len(want) + 100)
	defer buf.Release()
	for _, c := range [][2]int{{0, len(want)}, {5, 1}, {70 << 10, 1 << 20}, {len(want) - 10, 10}, {len(want) - 10, 50}, {len(want), 9}, {len(want) + 99, 9}} {
		n, err := do(l, &netpoll.Op{Kind: netpoll.OpRead, File: file, Off: int64(c[0]), Iov: [][]byte{buf.B[:c[1]]}})
		exp := want[min(c[0], len(want)):min(c[0]+c[1], len(want))]
		if err != nil || n != int64(len(exp)) || !bytes.Equal(buf.B[:n], exp) {
			t.Errorf("read %v: %d bytes, %v", c, n, err)
		}
	}
}

func many(n, size int) (iov [][]byte) {
	for i := range n {
		iov = append(iov, noise(int64(i), size))
	}
	return iov
}

func fileErrors(t *testing.T, f netpoll.DriverFactory) {
	for _, mode := range []netpoll.AppendMode{netpoll.AppendAuto, netpoll.AppendRing} {
		r := newRig(t, f, nil, rigOptions{mode: mode})
		l := r.loops[0]
		name := tempFile(t).Name()
		ro, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		buf := l.Pool().GetForce(100)
		if n, err := do(l, &netpoll.Op{Kind: netpoll.OpWritev, File: &osFile{File: ro}, Iov: [][]byte{buf.B}}); !errors.Is(err, syscall.EBADF) || n != 0 {
			t.Errorf("write to a file opened for reading: %d, %v", n, err)
		}
		ro.Close()
		full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := do(l, &netpoll.Op{Kind: netpoll.OpWritev, File: &osFile{File: full}, Iov: [][]byte{buf.B}}); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("write to a full device: %v", err)
		}
		full.Close()
		bad := &memFile{err: syscall.EIO}
		for _, k := range []netpoll.OpKind{netpoll.OpWritev, netpoll.OpDatasync, netpoll.OpRead} {
			if _, err := do(l, &netpoll.Op{Kind: k, File: bad, Iov: [][]byte{buf.B}}); !errors.Is(err, syscall.EIO) {
				t.Errorf("operation %d on a failing file: %v", k, err)
			}
		}
		buf.Release()
		r.stop()
	}
}

// writeBehindColdPage: an append to a file whose last page has to be read from the disk first does not hold up the loop,
// seen by an append behind it that ends before it. The disk may be so quick that there is nothing to wait for; not always.
func writeBehindColdPage(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, nil, rigOptions{})
	for range 50 {
		if coldEndsLast(t, r.loops[0]) {
			return
		}
	}
	t.Error("an append behind a page that had left the page cache never let the one behind it pass")
}

func coldEndsLast(t *testing.T, l *netpoll.Loop) bool {
	cold, warm := tempFile(t), tempFile(t)
	want := noise(1, 6000)
	if _, err := cold.WriteAt(want[:5000], 0); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Preadv2(cold.Fd(), [][]byte{make([]byte, 1)}, 0, unix.RWF_NOWAIT); err != nil {
		lacking(t, fmt.Sprintf("reads that do not wait: %v", err))
	}
	evict(t, cold, 5000)
	buf := l.Pool().GetForce(1000)
	defer buf.Release()
	copy(buf.B, want[5000:])
	ends := make(chan vfs.File, 2)
	op := func(file vfs.File, off int64) *netpoll.Op {
		return &netpoll.Op{Kind: netpoll.OpWritev, File: file, Off: off, Iov: [][]byte{buf.B}, Rested: true, Done: opFunc(func(op *netpoll.Op) {
			if op.Err != nil || op.N != 1000 {
				t.Errorf("%d bytes written, %v", op.N, op.Err)
			}
			ends <- file
		})}
	}
	l.PostFunc(func() {
		l.Submit(op(cold, 5000))
		l.Submit(op(warm, 0))
	})
	<-ends
	last := <-ends
	got := make([]byte, 6000)
	if _, err := cold.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("read back: %v", err)
	}
	return last == vfs.File(cold)
}

// syncsInParallel: slow datasyncs of many files overlap, and the loop goes on meanwhile.
func syncsInParallel(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, &handler{}, rigOptions{})
	l := r.loops[0]
	done := make(chan struct{}, 8)
	start := time.Now()
	l.PostFunc(func() {
		for range 8 {
			l.Submit(&netpoll.Op{Kind: netpoll.OpDatasync, File: &memFile{delay: 200 * time.Millisecond},
				Done: opFunc(func(*netpoll.Op) { done <- struct{}{} })})
		}
	})
	k := dial(t, r.addr)
	for i := range 20 {
		k.send(frameOf(byte(i), 10))
		k.expect(frameOf(byte(i), 10))
	}
	if d := time.Since(start); d > time.Second { // inline it would take 1.6 s
		t.Errorf("the loop was held up by datasyncs: %v for 20 echoes", d)
	}
	for range 8 {
		<-done
	}
	if d := time.Since(start); d > 1500*time.Millisecond {
		t.Errorf("8 datasyncs of 200 ms took %v", d)
	}
}

// neverNested: no completer runs inside Submit, and no task inside another.
func neverNested(t *testing.T, f netpoll.DriverFactory) {
	for _, mode := range []netpoll.AppendMode{netpoll.AppendInline, netpoll.AppendRing} {
		r := newRig(t, f, nil, rigOptions{mode: mode})
		l := r.loops[0]
		file, mem := tempFile(t), &memFile{}
		buf := l.Pool().GetForce(4096)
		depth, left := 0, 3000
		finished := make(chan struct{})
		var step func(*netpoll.Op)
		step = func(op *netpoll.Op) {
			if depth++; depth > 1 {
				t.Error("a completer was called from inside another")
			}
			if left--; left == 0 {
				close(finished)
			} else if left > 0 {
				kinds := []netpoll.OpKind{netpoll.OpWritev, netpoll.OpRead}
				files := []vfs.File{file, mem}
				op.Kind, op.File = kinds[left%2], files[left/2%2]
				l.Submit(op)
			}
			depth--
		}
		l.PostFunc(func() {
			for range 4 {
				op := &netpoll.Op{Kind: netpoll.OpWritev, File: file, Iov: [][]byte{buf.B}, Done: opFunc(step)}
				l.Submit(op)
			}
		})
		select {
		case <-finished:
		case <-time.After(20 * time.Second):
			t.Fatal("operations got lost")
		}
		r.stopReleasing(buf.Release)
	}
}

// stopReleasing stops the loops after giving up what the test holds once nothing is in flight.
func (r *rig) stopReleasing(release func()) {
	time.Sleep(50 * time.Millisecond)
	release()
	r.stop()
}
