package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"

	"millrace/broker"
	"millrace/internal/bufpool"
	"millrace/kafka/wire"
	"millrace/netpoll"
)

// Options configure a Frontend.
type Options struct {
	Node *broker.Node
	Log  *slog.Logger
}

// Frontend answers the clients of one node. It is shared by all loops: its fields are immutable after New, but for
// the counters and the fetch sessions, which lock for themselves.
type Frontend struct {
	node     *broker.Node
	log      *slog.Logger
	table    [wire.KeyUnregisterController + 1]api
	loops    []*loopState
	sessions *sessionCache
	stats    stats
	ready    atomic.Bool
	stopping atomic.Bool
	rejects  rateLimit
	faults   rateLimit // of ours, that clients see as a lost connection or an error to try again
	large    largeChecks
}

// New makes the frontend of node. It takes connections once it is given to a netpoll.Group as handler.
func New(opts Options) *Frontend {
	f := &Frontend{node: opts.Node, log: opts.Log}
	if f.log == nil {
		f.log = slog.Default()
	}
	f.sessions = newSessionCache(f.node.FetchSessionSlots())
	for _, l := range f.node.Loops() {
		f.loops = append(f.loops, newLoopState(l))
	}
	f.large.free = min(len(f.loops), largeMax)
	f.fillTable()
	f.stats.register(f.node.Metrics(), f)
	return f
}

var (
	errFrameSize  = errors.New("frame length is negative or larger than socket.request.max.bytes")
	errFrameShort = errors.New("frame is too short for a request header")
)

// minFrame is the shortest request header: api key, version, correlation id.
const minFrame = 8

// Opened implements netpoll.Handler.
func (f *Frontend) Opened(nc *netpoll.Conn) error {
	if !f.ready.Load() {
		nc.Context = &conn{fe: f, ls: f.loops[nc.Loop().Index()], nc: nc, refused: true}
		if f.stopping.Load() {
			return errStopping
		}
		return errStarting
	}
	nc.Context = &conn{fe: f, ls: f.loops[nc.Loop().Index()], nc: nc}
	f.stats.connections.Add(1)
	f.stats.connectionsTotal.Add(1)
	return nil
}

// FrameLen implements netpoll.Handler: the length in front of a frame, checked before anything is allocated.
func (f *Frontend) FrameLen(nc *netpoll.Conn, head []byte) (int, error) {
	if len(head) < wire.FrameSize {
		return 0, nil
	}
	n := int64(int32(binary.BigEndian.Uint32(head)))
	if n < 0 || n > f.node.RequestMaxBytes() {
		err := fmt.Errorf("%w: %d (%q)", errFrameSize, n, head[:wire.FrameSize])
		f.rejected(nc.Context.(*conn), err)
		return 0, err
	}
	if n < minFrame {
		f.rejected(nc.Context.(*conn), errFrameShort)
		return 0, errFrameShort
	}
	return int(n) + wire.FrameSize, nil
}

// Frame implements netpoll.Handler.
func (f *Frontend) Frame(nc *netpoll.Conn, b *bufpool.Buf) { nc.Context.(*conn).frame(b) }

// Closed implements netpoll.Handler.
func (f *Frontend) Closed(nc *netpoll.Conn, err error) {
	c := nc.Context.(*conn)
	if !c.refused {
		f.stats.connections.Add(-1)
	}
	if ownFault(err) {
		if n, ok := f.faults.allow(nc.Loop().WallMs()); ok {
			f.log.Error("a connection ended because its answer could not be sent", "peer", nc.Info().Remote.String(), "error", err, "not_logged", n)
		}
	}
	c.ended()
}

// ownFault tells errors of our files and calls from what peers and networks do.
func ownFault(err error) bool {
	if errors.Is(err, netpoll.ErrShortFile) {
		return true
	}
	var code syscall.Errno
	if !errors.As(err, &code) {
		return false
	}
	switch code {
	case syscall.EIO, syscall.EINVAL, syscall.EBADF, syscall.EFAULT, syscall.ENOMEM, syscall.EUCLEAN, syscall.EBADMSG, syscall.ENODATA:
		return true
	}
	return false
}

// rejected notes bytes that end a connection: at most a few lines a second, whatever a peer sends.
func (f *Frontend) rejected(c *conn, err error) {
	f.stats.rejected.Add(1)
	if n, ok := f.rejects.allow(c.nc.Loop().WallMs()); ok {
		f.log.Warn("closing a connection that sent something else than a valid request",
			"peer", c.nc.Info().Remote.String(), "reason", err.Error(), "not_logged", n)
	}
}

// rateLimit lets one event through per second and counts the others. Any goroutine.
type rateLimit struct {
	lastMs  atomic.Int64
	dropped atomic.Int64
}

// allow reports whether to act, and how many events were dropped since the last.
func (r *rateLimit) allow(nowMs int64) (dropped int64, ok bool) {
	last := r.lastMs.Load()
	if nowMs-last < 1000 || !r.lastMs.CompareAndSwap(last, nowMs) {
		r.dropped.Add(1)
		return 0, false
	}
	return r.dropped.Swap(0), true
}
