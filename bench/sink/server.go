package sink

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// When written data is synced.
const (
	SyncNone       = "none"
	SyncBackground = "background" // older than 1 s or more than 256 MB, as the broker does for what nobody waits for
	SyncEach       = "each"       // before the answers of a turn: the sync floor
)

// Options describe a floor.
type Options struct {
	Mode       string // null, write, echo
	Addr       string // host:port; port 0 takes a free one
	Dir        string // for files; write only
	Sync       string // default none
	Loops      int    // default 1
	Partitions int    // of a topic that is created by use; default 64
	Kept       string // log directory to take stock of before it listens, as a broker does that starts on it; empty: none
	Check      bool   // verify checksums and refuse what is spoiled, as a broker must; not for floors
}

// Server is a running floor. Any goroutine.
type Server struct {
	opts    Options
	fd      int
	addr    *net.TCPAddr
	echo    net.Listener
	loops   []*loop
	done    sync.WaitGroup
	closing atomic.Bool
	stop    chan struct{}
	mu      sync.RWMutex
	topics  map[string]*topic
	ids     int64
	bytes   atomic.Int64 // unsynced
}

// topic is shared by all loops; its list of partitions is immutable.
type topic struct {
	name  string
	id    [16]byte
	parts []*part
	first atomic.Pointer[[]byte] // first batch seen: what null answers a Fetch with
}

// part is one partition. Any goroutine: the mutex guards what has no atomic, the file is opened before it is published.
type part struct {
	file     *os.File
	mu       sync.Mutex
	next     atomic.Int64    // offset of the next batch; raised under mu
	pos      int64           // its place in the file
	landed   map[int64]int64 // written behind a hole that another loop is filling: position to bytes
	readable atomic.Int64    // bytes of the file without a hole; raised under mu
	batchLen atomic.Int64    // of the first batch; all are taken to be alike when a Fetch maps offsets to positions
	records  atomic.Int64
	unsynced atomic.Int64
	since    atomic.Int64 // when unsynced left 0, unix ns
}

// Serve starts a floor and returns once it listens.
func Serve(o Options) (*Server, error) {
	if o.Loops == 0 {
		o.Loops = 1
	}
	if o.Partitions == 0 {
		o.Partitions = 64
	}
	if o.Sync == "" {
		o.Sync = SyncNone
	}
	if o.Kept != "" {
		if _, err := takeStock(o.Kept); err != nil {
			return nil, fmt.Errorf("kept data: %w", err)
		}
	}
	s := &Server{opts: o, fd: -1, topics: map[string]*topic{}, stop: make(chan struct{})}
	switch o.Mode {
	case "null", "write":
	case "echo":
		return s, s.listenEcho()
	default:
		return nil, fmt.Errorf("mode %q is not null, write or echo", o.Mode)
	}
	if o.Sync != SyncNone && o.Sync != SyncBackground && o.Sync != SyncEach {
		return nil, fmt.Errorf("sync %q is not none, background or each", o.Sync)
	}
	if o.Mode == "write" {
		if o.Dir == "" {
			return nil, errors.New("files need a directory")
		}
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	for range o.Loops {
		l, err := newLoop(s)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.loops = append(s.loops, l)
		s.done.Go(l.run)
	}
	s.done.Go(s.accept)
	if o.Sync == SyncBackground {
		s.done.Go(s.syncLoop)
	}
	return s, nil
}

// Addr is where it listens.
func (s *Server) Addr() string {
	if s.echo != nil {
		return s.echo.Addr().String()
	}
	return s.addr.String()
}

func (s *Server) listen() error {
	tcp, err := net.ResolveTCPAddr("tcp4", s.opts.Addr)
	if err != nil {
		return err
	}
	if s.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	// Accepted sockets inherit this; a kernel without cubic keeps its default.
	_ = unix.SetsockoptString(s.fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
	at := &unix.SockaddrInet4{Port: tcp.Port}
	copy(at.Addr[:], tcp.IP.To4())
	if err := unix.Bind(s.fd, at); err != nil {
		return fmt.Errorf("listen on %s: %w", s.opts.Addr, err)
	}
	if err := unix.Listen(s.fd, 4096); err != nil {
		return err
	}
	name, err := unix.Getsockname(s.fd)
	if err != nil {
		return err
	}
	in, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return errors.New("not an IPv4 address")
	}
	s.addr = &net.TCPAddr{IP: net.IP(in.Addr[:]), Port: in.Port}
	return nil
}

func (s *Server) accept() {
	for i := 0; ; i++ {
		fd, _, err := unix.Accept4(s.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if s.closing.Load() {
			if err == nil {
				unix.Close(fd)
			}
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // out of descriptors, or the peer is gone already
			continue
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		s.loops[i%len(s.loops)].add(fd)
	}
}

// Close stops serving. Files stay, as a broker's would.
func (s *Server) Close() {
	if s.closing.Swap(true) {
		return
	}
	close(s.stop)
	if s.echo != nil {
		s.echo.Close()
	}
	if s.fd >= 0 {
		_ = unix.Shutdown(s.fd, unix.SHUT_RDWR) // wakes accept
	}
	for _, l := range s.loops {
		l.wake()
	}
	s.done.Wait()
	if s.fd >= 0 {
		unix.Close(s.fd)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.topics {
		t.close()
	}
}

func (t *topic) close() {
	for _, p := range t.parts {
		if p.file != nil {
			p.file.Close()
		}
	}
}

// topic finds a topic, and makes it if that is wanted.
func (s *Server) topic(name []byte, partitions int) (*topic, error) {
	s.mu.RLock()
	t := s.topics[string(name)]
	s.mu.RUnlock()
	if t != nil || partitions == 0 {
		return t, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t = s.topics[string(name)]; t != nil {
		return t, nil
	}
	s.ids++
	t = &topic{name: string(name), parts: make([]*part, partitions)}
	sum := sha256.Sum256([]byte(t.name + "/" + strconv.FormatInt(s.ids, 10)))
	copy(t.id[:], sum[:])
	for i := range t.parts {
		t.parts[i] = &part{}
		if s.opts.Mode != "write" {
			continue
		}
		dir := filepath.Join(s.opts.Dir, t.name+"-"+strconv.Itoa(i)) // laid out as a broker's partition
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(filepath.Join(dir, "00000000000000000000.log"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return nil, err
		}
		t.parts[i].file = f
	}
	s.topics[t.name] = t
	return t, nil
}

// drop forgets a topic and removes its files.
func (s *Server) drop(name string) bool {
	s.mu.Lock()
	t := s.topics[name]
	delete(s.topics, name)
	s.mu.Unlock()
	if t == nil {
		return false
	}
	for _, p := range t.parts {
		s.bytes.Add(-p.unsynced.Swap(0))
	}
	t.close()
	if s.opts.Mode == "write" {
		for i := range t.parts {
			_ = os.RemoveAll(filepath.Join(s.opts.Dir, name+"-"+strconv.Itoa(i)))
		}
	}
	return true
}

// Procs sets the number of Ps for loops that block in the kernel on locked threads.
func Procs(loops int) { runtime.GOMAXPROCS(loops + 2) }
