package netpoll

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const defaultOutBytesMax = 1 << 20

// Limits bounds what peers may occupy. Immutable; replaced as a whole by SetLimits.
type Limits struct {
	// MaxConns bounds all connections (max.connections); at the bound no more are accepted until one ends, as in
	// Kafka. 0: no bound.
	MaxConns int
	// MaxPerIP bounds connections per remote address (max.connections.per.ip); what is above is closed at once, as
	// in Kafka. 0: no bound; negative: none at all but for what PerIP allows.
	MaxPerIP int
	// PerIP overrides MaxPerIP (max.connections.per.ip.overrides).
	PerIP map[netip.Addr]int
	// IdleTimeout closes connections on which nothing moved (connections.max.idle.ms). 0: never.
	IdleTimeout time.Duration
	// PreRequestTimeout is how long a new connection may take for its first whole request. 0: for ever.
	PreRequestTimeout time.Duration
	// OutBytesMax: above this many unsent bytes the connection is not read. Default 1 MiB.
	OutBytesMax int64
}

// GroupOptions says how connections are accepted.
type GroupOptions struct {
	// Loops get the connections, in turn. The first one accepts.
	Loops  []*Loop
	Limits Limits
	// Congestion is TCP_CONGESTION of the listeners (socket.tcp.congestion), inherited by what they accept; "" leaves the system's.
	Congestion string
	// LoopbackCongestion is TCP_CONGESTION of connections over the loopback interface where Congestion is "". Pacing, as
	// bbr's, has nothing to measure there and costs up to two thirds of the throughput.
	LoopbackCongestion string
	// SendBuffer and RecvBuffer are SO_SNDBUF and SO_RCVBUF in bytes; 0 or less leaves the system's.
	SendBuffer, RecvBuffer int
	// Backlog of listen(2); default 1024 (the system may have a lower bound).
	Backlog int
	// Log takes what an operator should know; default slog.Default.
	Log *slog.Logger
}

// Group accepts connections and deals them to loops. Any goroutine.
type Group struct {
	opts   GroupOptions
	limits atomic.Pointer[Limits]
	log    *slog.Logger
	fdMax  int // descriptors from here on are not for connections

	mu        sync.Mutex
	total     int
	perIP     map[netip.Addr]int
	listeners []*listener
	parked    []*listener // not accepting until a connection ends

	next    int // of the first loop's thread: whose turn it is
	refused atomic.Int64
}

// NewGroup makes a group; its loops may run already or not yet.
func NewGroup(opts GroupOptions) (*Group, error) {
	if len(opts.Loops) == 0 {
		return nil, errors.New("netpoll: a group needs a loop")
	}
	if opts.Backlog <= 0 {
		opts.Backlog = 1024
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	g := &Group{opts: opts, log: opts.Log, fdMax: fdMax(), perIP: map[netip.Addr]int{}}
	g.SetLimits(opts.Limits)
	return g, nil
}

// fdReserve is how many descriptors connections leave to others, whatever their number: a log that rolls needs some.
const fdReserve = 64

// fdMax is the first descriptor that no connection may have. The kernel gives out the lowest free number, so that few are
// left when it gives out that one.
func fdMax() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt
	}
	return int(limit.Cur - min(fdReserve, limit.Cur/8))
}

// SetLimits replaces the limits. Connections beyond a lowered limit stay.
func (g *Group) SetLimits(l Limits) {
	if l.OutBytesMax <= 0 {
		l.OutBytesMax = defaultOutBytesMax
	}
	g.limits.Store(&l)
	g.unpark()
	for _, lp := range g.opts.Loops {
		lp.PostFunc(lp.conns.resweep)
	}
}

// Limits are the limits in force.
func (g *Group) Limits() Limits { return *g.limits.Load() }

// Conns is the number of open connections.
func (g *Group) Conns() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}

// Refused is how many connections were closed because of MaxPerIP.
func (g *Group) Refused() int64 { return g.refused.Load() }

// Listen opens a listener on host:port ("" or a wildcard host: all addresses, IPv4 and IPv6; port 0: any) and begins to accept as soon as the
// first loop runs. It returns the address that was bound.
func (g *Group) Listen(addr string, index int, h Handler) (net.Addr, error) {
	fd, bound, err := g.bind(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	ln := &listener{grp: g, loop: g.opts.Loops[0], index: index, h: h}
	ln.sock.Fd = fd
	ln.sock.Ev = ln
	ln.retry.Fire = ln
	g.mu.Lock()
	g.listeners = append(g.listeners, ln)
	g.mu.Unlock()
	ln.loop.PostFunc(ln.start)
	return bound, nil
}

// CloseListeners stops accepting. The ports are free once the first loop has done a turn.
func (g *Group) CloseListeners() {
	g.mu.Lock()
	all := g.listeners
	g.listeners, g.parked = nil, nil
	g.mu.Unlock()
	for _, ln := range all {
		ln.loop.PostFunc(ln.close)
	}
}

// CloseConns closes, on every loop, the connections that pred (nil: all) says yes to; pred runs on their loops.
// With a nil error what is queued on them is sent first.
func (g *Group) CloseConns(pred func(*Conn) bool, err error) {
	for _, l := range g.opts.Loops {
		l.PostFunc(func() {
			l.conns.closeAll(func(c *Conn) bool { return c.grp == g && (pred == nil || pred(c)) }, err)
		})
	}
}

// FinishConns reads no more from any connection: what was received is answered, then the connection closes. Who does not
// pause sending could otherwise keep a stop from ever seeing the end.
func (g *Group) FinishConns() {
	for _, l := range g.opts.Loops {
		l.PostFunc(func() {
			for c := l.conns.idleHead; c != nil; {
				next := c.nextIdle
				if c.grp == g {
					c.finishReading()
				}
				c = next
			}
		})
	}
}

// admit counts a new connection, unless its address has too many.
func (g *Group) admit(ip netip.Addr) (refused bool) {
	l := g.limits.Load()
	bound := l.MaxPerIP
	if n, ok := l.PerIP[ip]; ok {
		bound = n
	} else if bound == 0 {
		bound = math.MaxInt
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.perIP[ip] >= bound {
		g.refused.Add(1)
		return true
	}
	g.perIP[ip]++
	g.total++
	return false
}

// left counts a connection that has ended, and lets the listeners go on if they waited for that.
func (g *Group) left(c *Conn) {
	ip := c.info.Remote.Addr()
	g.mu.Lock()
	g.total--
	if g.perIP[ip]--; g.perIP[ip] <= 0 {
		delete(g.perIP, ip)
	}
	wake := len(g.parked) > 0
	g.mu.Unlock()
	if wake {
		g.unpark()
	}
}

// park tells whether the listener must wait for a connection to end, and remembers it then.
func (g *Group) park(ln *listener) bool {
	l := g.limits.Load()
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.MaxConns <= 0 || g.total < l.MaxConns {
		return false
	}
	g.parked = append(g.parked, ln)
	return true
}

func (g *Group) unpark() {
	g.mu.Lock()
	all := g.parked
	g.parked = nil
	g.mu.Unlock()
	for _, ln := range all {
		ln.loop.PostFunc(ln.accept)
	}
}

// bind opens a listening socket.
func (g *Group) bind(addr string) (fd int, bound net.Addr, err error) {
	ta, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return -1, nil, err
	}
	var sa unix.Sockaddr
	family := unix.AF_INET6
	if ip4 := ta.IP.To4(); ip4 != nil && !ip4.IsUnspecified() {
		family = unix.AF_INET
		sa = &unix.SockaddrInet4{Port: ta.Port, Addr: [4]byte(ip4)}
	} else if len(ta.IP) == 16 && !ta.IP.IsUnspecified() {
		s6 := &unix.SockaddrInet6{Port: ta.Port, Addr: [16]byte(ta.IP)}
		if ta.Zone != "" {
			if ifi, zerr := net.InterfaceByName(ta.Zone); zerr == nil {
				s6.ZoneId = uint32(ifi.Index)
			}
		}
		sa = s6
	} else {
		sa = &unix.SockaddrInet6{Port: ta.Port}
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err == unix.EAFNOSUPPORT && family == unix.AF_INET6 && (ta.IP == nil || ta.IP.IsUnspecified()) {
		// No IPv6 on this machine.
		family, sa = unix.AF_INET, &unix.SockaddrInet4{Port: ta.Port}
		fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	}
	if err != nil {
		return -1, nil, err
	}
	if err = g.setup(fd, family, sa, ta); err != nil {
		_ = unix.Close(fd)
		return -1, nil, err
	}
	lsa, err := unix.Getsockname(fd)
	if err != nil {
		_ = unix.Close(fd)
		return -1, nil, err
	}
	return fd, net.TCPAddrFromAddrPort(addrPort(lsa)), nil
}

func (g *Group) setup(fd, family int, sa unix.Sockaddr, ta *net.TCPAddr) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if family == unix.AF_INET6 {
		only := 1
		if ta.IP == nil || ta.IP.IsUnspecified() {
			only = 0
		}
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only); err != nil {
			return err
		}
	}
	if g.opts.Congestion != "" {
		if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, g.opts.Congestion); err != nil {
			g.log.Warn("cannot set the congestion control of a listener; the system's is used",
				"socket.tcp.congestion", g.opts.Congestion, "err", err)
		}
	}
	if g.opts.SendBuffer > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, g.opts.SendBuffer)
	}
	if g.opts.RecvBuffer > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, g.opts.RecvBuffer)
	}
	// Inherited by accepted sockets.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return err
	}
	if err := unix.Bind(fd, sa); err != nil {
		return err
	}
	return unix.Listen(fd, g.opts.Backlog)
}

// addrPort turns a kernel address into one that compares: IPv4 in IPv6 becomes IPv4.
func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}
