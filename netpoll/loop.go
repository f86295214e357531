package netpoll

import (
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"millrace/internal/bufpool"
	"millrace/internal/metric"
)

// LoopOptions says what a loop is made of.
type LoopOptions struct {
	// Index is the loop's number, from 0.
	Index int
	// Name is for logs; default "loop-<index>".
	Name string
	// Driver is opened on the loop's thread by Run or by the first Step.
	Driver DriverFactory
	// Pool holds received frames; its budget bounds what requests may occupy. Default: 64 MiB.
	Pool *bufpool.Pool
	// SpinUs is how long to look for events before sleeping, while recent looking paid off. Microseconds; default 50, negative: never.
	SpinUs int
	// AppendMode is log.append.mode.
	AppendMode AppendMode
	// CopyFiles has all file ranges sent from memory, instead of handing large ones to the socket by sendfile. It costs processor
	// time; it is there to be measured against, and for file systems whose sendfile is no good.
	CopyFiles bool
	// PinCPU keeps the thread on processor CPU.
	PinCPU bool
	CPU    int
	// Workers bounds the goroutines that carry out offloaded work; default 16.
	Workers int
	// Metrics takes the loop's counters; default: a registry of its own.
	Metrics *metric.Registry
	// Log takes what an operator should know; default slog.Default.
	Log *slog.Logger
}

// Loop is one event loop. Owned by its thread; Post, PostFunc, Stop, Index, Name, Pool and InLoop may be called
// from any goroutine.
type Loop struct {
	opts LoopOptions
	pool *bufpool.Pool
	drv  Driver
	host Host
	st   loopMetrics
	log  *slog.Logger

	base   time.Time
	nowNs  int64
	wallMs int64

	mail     mailbox
	sleeping atomic.Bool
	stopped  atomic.Bool
	wakeMu   sync.Mutex
	wakeOff  bool // guarded by wakeMu: the driver is closed

	timers   timerHeap
	hooks    []TurnHook
	again    bool // there is work: do not sleep
	fresh    int  // bytes of frames that were delivered since the hooks ran
	early    bool // hooks that ran early want the loop to go on
	conns    connSet
	outs     outPool
	work     workers
	spin     spinState
	inFlight int // operations and offloaded work not ended yet
}

// ErrNoDriver says that a loop was made without a driver.
var ErrNoDriver = errors.New("netpoll: a loop needs a driver")

// NewLoop makes a loop that does not run yet. Its driver is opened by Run or the first Step, on that thread.
func NewLoop(opts LoopOptions) (*Loop, error) {
	if opts.Driver.Open == nil {
		return nil, ErrNoDriver
	}
	if opts.Pool == nil {
		opts.Pool = bufpool.New(64 << 20)
	}
	if opts.SpinUs == 0 {
		opts.SpinUs = 50
	}
	if opts.Workers <= 0 {
		opts.Workers = 16
	}
	if opts.Metrics == nil {
		opts.Metrics = metric.NewRegistry()
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Name == "" {
		opts.Name = "loop-" + itoa(opts.Index)
	}
	l := &Loop{opts: opts, pool: opts.Pool, log: opts.Log, base: time.Now()}
	l.host = Host{Loop: l, Mode: opts.AppendMode}
	l.outs.copies = opts.CopyFiles
	l.st.register(opts.Metrics, opts.Index)
	l.conns.init(l)
	l.work.init(l, opts.Workers)
	l.tick()
	return l, nil
}

// Index is the loop's number. Any goroutine.
func (l *Loop) Index() int { return l.opts.Index }

// Name is the loop's name. Any goroutine.
func (l *Loop) Name() string { return l.opts.Name }

// Pool is where the loop's frames come from. Any goroutine.
func (l *Loop) Pool() *bufpool.Pool { return l.pool }

// NowNs is the monotonic clock, read once per turn. Nanoseconds since some moment before the loop began.
func (l *Loop) NowNs() int64 { return l.nowNs }

// WallMs is the wall clock, read once per turn. Milliseconds since 1970.
func (l *Loop) WallMs() int64 { return l.wallMs }

// ClockNs reads the loop's monotonic clock afresh. Any goroutine.
func (l *Loop) ClockNs() int64 { return int64(time.Since(l.base)) + 1 }

// DriverName is the name of the driver that the loop runs on. Any goroutine.
func (l *Loop) DriverName() string { return l.opts.Driver.Name }

// Post hands a task to the loop, to be run once. Any goroutine.
func (l *Loop) Post(t *Task) {
	l.mail.push(t)
	if l.sleeping.Load() && l.sleeping.CompareAndSwap(true, false) {
		l.wake()
	}
}

// PostFunc is Post for cold paths: it allocates. Any goroutine.
func (l *Loop) PostFunc(fn func()) {
	l.Post(&Task{Run: taskFunc(fn)})
}

type taskFunc func()

func (f taskFunc) RunTask(*Task) { f() }

// Submit starts a file operation; op.Done hears of its end later, never from inside Submit. Operations on one file
// are not ordered among each other.
func (l *Loop) Submit(op *Op) {
	op.N, op.Err = 0, nil
	l.inFlight++
	l.drv.Start(op)
}

// OnTurnEnd registers a hook. Before Run, or on the loop.
func (l *Loop) OnTurnEnd(h TurnHook) { l.hooks = append(l.hooks, h) }

// Run locks the thread, opens the driver and works until Stop. It returns nil after Stop.
func (l *Loop) Run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if l.opts.PinCPU {
		var set unix.CPUSet
		set.Set(l.opts.CPU)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			l.log.Warn("cannot pin a loop to its processor", "loop", l.opts.Name, "cpu", l.opts.CPU, "err", err)
		}
	}
	if err := l.open(); err != nil {
		return err
	}
	for !l.stopped.Load() {
		if err := l.turn(-1); err != nil {
			l.close()
			return err
		}
	}
	l.close()
	return nil
}

// Stop ends Run after the current turn: connections are closed, operations in flight are waited for. Any goroutine.
func (l *Loop) Stop() {
	l.stopped.Store(true)
	l.PostFunc(func() {})
}

// Step runs one turn that sleeps at most wait. For tests and the simulator; the caller keeps to one thread. It
// reports whether anything ran.
func (l *Loop) Step(wait time.Duration) bool {
	if l.drv == nil {
		if err := l.open(); err != nil {
			panic(err)
		}
	}
	before := l.st.events
	if err := l.turn(int64(wait)); err != nil {
		panic(err)
	}
	return l.st.events != before
}

// Close ends a loop that was driven by Step.
func (l *Loop) Close() { l.close() }

func (l *Loop) open() error {
	d, err := l.opts.Driver.Open(&l.host)
	if err != nil {
		return err
	}
	l.drv = d
	l.pool.OnFree(l.conns.memory.freed)
	return nil
}

func (l *Loop) tick() {
	now := time.Now()
	l.nowNs = int64(now.Sub(l.base)) + 1
	l.wallMs = now.UnixMilli()
}

// Turns is how many turns the loop has done. Any goroutine.
func (l *Loop) Turns() int64 { return l.st.turns.Load() }
