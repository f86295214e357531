package drivertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace/internal/bufpool"
	"millrace/netpoll"
	"millrace/vfs"
)

type countRef struct{ n atomic.Int64 }

func (r *countRef) Release() { r.n.Add(1) }

type outFunc func(o *netpoll.Out, err error)

func (f outFunc) OutDone(o *netpoll.Out, err error) { f(o, err) }

// noise is n bytes of file content.
func noise(seed int64, n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(b)
	return b
}

// segmentsInOrder answers with random messages of memory and file ranges; the peer must see exactly their bytes, each
// reference must be released once and each message completed once.
func segmentsInOrder(t *testing.T, f netpoll.DriverFactory) { segments(t, f, false) }

// segmentsCopied does the same without sendfile.
func segmentsCopied(t *testing.T, f netpoll.DriverFactory) { segments(t, f, true) }

func segments(t *testing.T, f netpoll.DriverFactory, copied bool) {
	f, calls := countCalls(f)
	content := noise(1, 3<<20)
	real, mem := tempFile(t), &memFile{b: content}
	if _, err := real.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(7))
	var refs countRef
	var segs, outs, dones int64
	wants := make(chan []byte, 1)
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		var want []byte
		for range 1 + rnd.Intn(5) {
			o := c.Loop().NewOut()
			for range rnd.Intn(12) {
				n := rnd.Intn([]int{2, 100, 20 << 10, 400 << 10}[rnd.Intn(4)])
				off := rnd.Intn(len(content) - n)
				part := content[off : off+n]
				want = append(want, part...)
				segs++
				switch rnd.Intn(4) {
				case 0:
					o.AddFile(mem, int64(off), int64(n), &refs)
				case 1:
					o.AddMem(part, &refs)
				default:
					o.AddFile(real, int64(off), int64(n), &refs)
				}
			}
			outs++
			o.Done = outFunc(func(_ *netpoll.Out, err error) {
				dones++
				if err != nil {
					t.Errorf("message ended with %v", err)
				}
			})
			c.Send(o)
		}
		wants <- want
	}
	r := newRig(t, f, h, rigOptions{sndbuf: 64 << 10, limits: netpoll.Limits{OutBytesMax: 1 << 30}, copied: copied})
	k := dial(t, r.addr)
	for i := range 150 {
		k.send(frameOf(byte(i), 3))
		want := <-wants
		if i%10 == 0 {
			time.Sleep(3 * time.Millisecond) // let the socket fill up
		}
		k.expect(want)
	}
	onLoop(r.loops[0], func() {
		if refs.n.Load() != segs || dones != outs {
			t.Errorf("%d segments and %d releases, %d messages and %d completions", segs, refs.n.Load(), outs, dones)
		}
	})
	if n := calls.sendFile.Load(); copied != (n == 0) {
		t.Errorf("%d calls of sendfile, copying: %v", n, copied)
	}
}

// calls counts what a driver was asked for. Any goroutine.
type calls struct{ sendFile, reads atomic.Int64 }

// countCalls has a driver's calls counted.
func countCalls(f netpoll.DriverFactory) (netpoll.DriverFactory, *calls) {
	n := &calls{}
	open := f.Open
	f.Open = func(h *netpoll.Host) (netpoll.Driver, error) {
		d, err := open(h)
		return countedDriver{d, n}, err
	}
	return f, n
}

type countedDriver struct {
	netpoll.Driver
	n *calls
}

func (d countedDriver) SendFile(s *netpoll.Sock, f vfs.File, off, n int64) (int64, error) {
	d.n.sendFile.Add(1)
	return d.Driver.SendFile(s, f, off, n)
}

func (d countedDriver) Start(op *netpoll.Op) {
	if op.Kind == netpoll.OpRead {
		d.n.reads.Add(1)
	}
	d.Driver.Start(op)
}

// slowReader asks for far more than it reads: the server must stop reading it, hold little, and go on later.
func slowReader(t *testing.T, f netpoll.DriverFactory) { slow(t, f, false) }

// slowReaderCopied asks for file ranges that are copied.
func slowReaderCopied(t *testing.T, f netpoll.DriverFactory) { slow(t, f, true) }

func slow(t *testing.T, f netpoll.DriverFactory, copied bool) {
	const answer, requests = 100 << 10, 2000
	body := frameOf(5, answer-4)
	file := tempFile(t)
	if _, err := file.WriteAt(body, 0); err != nil {
		t.Fatal(err)
	}
	var most, used int64
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		b.Release()
		o := c.Loop().NewOut()
		if copied {
			o.AddFile(file, 0, answer, nil)
		} else {
			o.AddMem(body, nil)
		}
		c.Send(o)
		most = max(most, c.QueuedBytes())
		used = max(used, c.Loop().Pool().Used())
	}
	r := newRig(t, f, h, rigOptions{limits: netpoll.Limits{OutBytesMax: 300 << 10}, sndbuf: 64 << 10, copied: copied})
	k := dial(t, r.addr)
	go func() {
		for i := range requests {
			if _, err := k.Write(frameOf(byte(i), 8)); err != nil {
				return
			}
		}
	}()
	other := dial(t, r.addr)
	time.Sleep(50 * time.Millisecond)
	n := h.frames.Load()
	for range 20 {
		other.send(frameOf(1, 4))
		other.expect(body)
	}
	time.Sleep(50 * time.Millisecond)
	if m := h.frames.Load() - 20; m > n+3 {
		t.Errorf("the slow reader's requests are served on: %d, then %d", n, m)
	}
	if n >= requests {
		t.Errorf("all requests were served though nothing was read")
	}
	for range requests {
		k.expect(body)
	}
	onLoop(r.loops[0], func() {
		if most > 300<<10+2*answer {
			t.Errorf("%d bytes were queued, the limit is %d", most, 300<<10)
		}
		if used > 256<<10 {
			t.Errorf("%d bytes of buffers were held for a peer that does not read", used)
		}
	})
}

// coldRanges sends ranges that are not in the page cache.
func coldRanges(t *testing.T, f netpoll.DriverFactory) { cold(t, f, false) }

// coldRangesCopied does the same without sendfile.
func coldRangesCopied(t *testing.T, f netpoll.DriverFactory) { cold(t, f, true) }

func cold(t *testing.T, f netpoll.DriverFactory, copied bool) {
	f, calls := countCalls(f)
	content := noise(3, 6<<20)
	file, unsent := tempFile(t), tempFile(t)
	for _, f := range []vfs.File{file, unsent} {
		if _, err := f.WriteAt(content, 0); err != nil {
			t.Fatal(err)
		}
	}
	h := &handler{}
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		off, n := binary.BigEndian.Uint32(b.B[4:]), binary.BigEndian.Uint32(b.B[8:])
		b.Release()
		from := vfs.File(file)
		if int(off) >= len(content) {
			from, off = unsent, off-uint32(len(content))
		}
		o := c.Loop().NewOut()
		o.AddMem([]byte("head"), nil)
		o.AddFile(from, int64(off), int64(n), nil)
		o.AddMem([]byte("tail"), nil)
		c.Send(o)
	}
	r := newRig(t, f, h, rigOptions{copied: copied})
	var ks []*client
	for range 40 { // more than reads ahead are allowed at a time
		ks = append(ks, dial(t, r.addr))
	}
	ask := func(k *client, off, n int) {
		b := binary.BigEndian.AppendUint32(nil, 8)
		b = binary.BigEndian.AppendUint32(b, uint32(off))
		k.send(binary.BigEndian.AppendUint32(b, uint32(n)))
	}
	want := func(off, n int) []byte {
		return bytes.Join([][]byte{[]byte("head"), content[off : off+n], []byte("tail")}, nil)
	}
	for _, c := range [][2]int{{0, 6 << 20}, {4097, 100}, {1000, 3 << 20}, {5<<20 + 1, 1<<20 - 1}, {77, 16 << 10}} {
		drop(t, file)
		ask(ks[0], c[0], c[1])
		ks[0].expect(want(c[0], c[1]))
	}
	drop(t, file)
	for i, k := range ks {
		ask(k, i*100_000, 150_000)
	}
	for i, k := range ks {
		k.expect(want(i*100_000, 150_000))
	}
	// What the disk had to be asked for was read off the loop, in pieces as large as for sendfile. Counted on a file of
	// which nothing was sent: the kernel frees what was received when the sender's CPU next receives, and till then those
	// pages stay in the cache, whoever asks for them to go.
	evict(t, unsent, len(content))
	before := calls.reads.Load()
	ask(ks[0], len(content)+5<<20, 1<<20)
	ks[0].expect(want(5<<20, 1<<20))
	if n := calls.reads.Load() - before; n < 1 || n > 8 {
		t.Errorf("%d reads off the loop for 1 MiB that was not in the page cache", n)
	}
}

// drop asks for a file's pages to leave the page cache.
func drop(t *testing.T, f vfs.File) {
	t.Helper()
	if err := unix.Fdatasync(f.Fd()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(f.Fd(), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
}

// evict waits until the first n bytes of a file have left the page cache.
func evict(t *testing.T, f vfs.File, n int) {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(f.Fd(), &fs); err != nil {
		t.Fatal(err)
	}
	if fs.Type == unix.TMPFS_MAGIC {
		lacking(t, "TMPDIR is a tmpfs: its files are nowhere but in the page cache")
	}
	eventually(t, "the file leaves the page cache", func() bool {
		drop(t, f)
		return cachedPages(t, f, n) == 0
	})
}

// lacking ends a test for which this machine lacks something; in CI that is a failure.
func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// cachedPages is how many pages of the first n bytes of a file the kernel holds.
func cachedPages(t *testing.T, f vfs.File, n int) uint64 {
	var cs unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{Len: uint64(n)}, &cs, 0); err != nil {
		lacking(t, fmt.Sprintf("cachestat (Linux 6.5): %v", err))
	}
	return cs.Cache
}

// shortFile: a range that the file does not have ends the connection, not the loop.
func shortFile(t *testing.T, f netpoll.DriverFactory) {
	file := tempFile(t)
	if _, err := file.WriteAt(make([]byte, 30<<10), 0); err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		file   vfs.File
		n      int64
		copied bool
	}{{file, 100 << 10, false}, {&memFile{b: make([]byte, 10)}, 100, false}, {file, 40 << 10, false}, {file, 100 << 10, true}} {
		h := &handler{}
		h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
			b.Release()
			o := c.Loop().NewOut()
			o.AddFile(v.file, 0, v.n, nil)
			c.Send(o)
		}
		r := newRig(t, f, h, rigOptions{copied: v.copied})
		k := dial(t, r.addr)
		k.send(frameOf(1, 1))
		eventually(t, "the connection ends", func() bool { return h.ends.Load() == 1 })
		if err := h.anyEnd(); !errors.Is(err, netpoll.ErrShortFile) {
			t.Errorf("ended with %v", err)
		}
		r.stop()
	}
}
