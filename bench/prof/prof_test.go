package prof

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"millrace/bench/wire"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"internal/runtime/syscall.Syscall6 syscall.RawSyscall6 golang.org/x/sys/unix.Pwrite millrace/netpoll/uring.(*Driver).run", FileWrite},
		{"internal/runtime/syscall.Syscall6 syscall.Syscall6 millrace/netpoll/uring.rawPwritev millrace/netpoll.(*Loop).turn", FileWrite},
		{"internal/runtime/syscall.Syscall6 syscall.Syscall6 millrace/netpoll/uring.enter millrace/netpoll/uring.(*Driver).Wait", RingEnter},
		{"internal/runtime/syscall.Syscall6 syscall.Syscall6 github.com/pawelgaczynski/giouring.(*Ring).SubmitAndWait millrace/netpoll/uring.x", RingEnter},
		{"internal/runtime/syscall.Syscall6 syscall.RawSyscall6 millrace/netpoll/epoll.(*conn).recvNow millrace/netpoll/epoll.(*Driver).turn", Sockets},
		{"internal/runtime/syscall.Syscall6 syscall.Syscall6 golang.org/x/sys/unix.Sendfile millrace/netpoll/epoll.(*Driver).turn", FileSend},
		{"internal/runtime/syscall.Syscall6 syscall.Syscall golang.org/x/sys/unix.Fdatasync millrace/netpoll/epoll.work", Sync},
		{"internal/runtime/syscall.Syscall6 syscall.Syscall6 golang.org/x/sys/unix.EpollWait millrace/netpoll/epoll.(*Driver).Wait", Poll},
		{"internal/runtime/syscall.Syscall6 syscall.Syscall6 millrace/netpoll/epoll.a millrace/netpoll/epoll.b millrace/netpoll/epoll.c", OtherCalls},
		{"internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 millrace/netpoll.(*SockIO).Recv millrace/netpoll.(*connEvents).RecvDone", Sockets},
		{"internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 millrace/netpoll.(*SockIO).SendFile millrace/netpoll.(*Conn).sendSome", FileSend},
		{"internal/runtime/syscall/linux.Syscall6 syscall.Syscall6 millrace/netpoll.pwritev millrace/netpoll.(*FileOps).pwritev", FileWrite},
		{"internal/runtime/syscall/linux.Syscall6 syscall.Syscall millrace/vfs.(*osFile).Datasync.func1 millrace/vfs.again", Sync},
		{"internal/runtime/syscall/linux.Syscall6 syscall.Syscall6 millrace/netpoll/epoll.(*Driver).poll millrace/netpoll/epoll.(*Driver).Wait", Poll},
		{"internal/runtime/syscall/linux.Syscall6 syscall.Syscall6 github.com/pawelgaczynski/giouring.(*Ring).Enter2 github.com/pawelgaczynski/giouring.(*Ring).Enter", RingEnter},
		{"hash/crc32.castagnoliSSE42Triple hash/crc32.Update millrace/segment/batch.View.Valid", Checksum},
		{"runtime.memmove millrace/engine.(*Shard).drain millrace/netpoll.(*Loop).turn", "engine"},
		{"millrace/segment/batch.(*Iter).Next millrace/kafka.(*Frontend).produce", "segment/batch"},
		{"runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker.func2 runtime.systemstack", GC},
		{"runtime.memclrNoHeapPointers runtime.mallocgc runtime.makeslice millrace/kafka.x", Alloc},
		{"runtime.futex runtime.futexwakeup runtime.notewakeup", Sched},
		{"sync.(*Mutex).Lock millrace/engine.x", "sync"},
		{"github.com/klauspost/compress/zstd.(*Decoder).DecodeAll millrace/internal/codec.x", Codec},
		{"", Runtime},
	} {
		if got := classify(strings.Fields(c.stack)); got != c.want {
			t.Errorf("%s: %s, want %s", c.stack, got, c.want)
		}
	}
}

func TestAttributeSumsToOne(t *testing.T) {
	f := func(id uint64, name string) *profile.Location {
		return &profile.Location{ID: id, Line: []profile.Line{{Function: &profile.Function{ID: id, Name: name}}}}
	}
	crc, engine, kafka := f(1, "hash/crc32.Update"), f(2, "millrace/engine.(*Shard).drain"), f(3, "millrace/kafka.(*Frontend).OnData")
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{crc, kafka}, Value: []int64{3, 3e9}},
			{Location: []*profile.Location{engine}, Value: []int64{1, 1e9}},
		},
	}
	got := Attribute(p)
	if len(got) != 2 || got[0].Subsystem != Checksum || got[0].Seconds != 3 || got[0].Fraction != 0.75 || got[1].Subsystem != "engine" || got[0].Top[0].Name != "hash/crc32.Update" {
		t.Errorf("%+v", got)
	}
}

// TestTakeFromALiveProcess profiles this test over HTTP while it sums checksums.
func TestTakeFromALiveProcess(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/pprof/profile" || r.URL.Query().Get("seconds") != "1" {
			http.NotFound(w, r)
			return
		}
		var b bytes.Buffer
		if err := pprof.StartCPUProfile(&b); err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		data, sum := make([]byte, 1<<20), uint32(0)
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			sum ^= wire.CRC(data)
		}
		pprof.StopCPUProfile()
		_, _ = w.Write(b.Bytes())
	}))
	defer srv.Close()
	shares, raw, err := Take(context.Background(), strings.TrimPrefix(srv.URL, "http://"), 1)
	if err != nil || len(raw) == 0 {
		t.Fatal(err)
	}
	sum := 0.0
	for _, s := range shares {
		sum += s.Fraction
	}
	if shares[0].Subsystem != Checksum || math.Abs(sum-1) > 1e-9 {
		t.Errorf("sum %v, %+v", sum, shares)
	}
	if _, _, err := Take(context.Background(), strings.TrimPrefix(srv.URL, "http://"), 2); err == nil {
		t.Error("an answer of 404 is a profile")
	}
}
