package rawgen

import (
	"time"
	"unsafe"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"millrace/bench/wire"
)

// loop is a producing load: all connections on one thread. Owned by that thread.
type loop struct {
	opts      *ProduceOptions
	shape     *wire.ProduceShape
	senders   []*sender
	ep        int
	res       *Result
	latency   *hdrhistogram.Histogram
	lag       *hdrhistogram.Histogram
	wall      int64 // ms since 1970 at monotonic 0
	began     int64
	ended     int64
	begun     int64 // requests, over all connections
	done      int64
	step      int64 // ns between two requests of one connection; 0: closed loop
	nextTick  int64
	intervals []Interval
	tick      Interval
	second    *hdrhistogram.Histogram // latency of this second
	window    *hdrhistogram.Histogram // of this window; nil: none wanted
	windowAt  int                     // second at which it began
}

func newLoop(o *ProduceOptions) (*loop, error) {
	l := &loop{
		opts: o, ep: -1, res: &Result{Kind: "produce"}, latency: NewHistogram(), lag: NewHistogram(), second: hdrhistogram.New(1, 60_000_000, 2),
		wall: time.Now().UnixMilli() - Now()/1e6, intervals: make([]Interval, 0, 4096),
	}
	l.shape = &wire.ProduceShape{
		Version: o.Version, ClientID: "rawgen", Topic: o.Topic, TopicID: o.TopicID, Acks: o.Acks, TimeoutMs: o.TimeoutMs,
		Parts: o.PerRequest, Bodies: wire.NewBodies(o.Bodies, o.RecordSize, o.BatchBytes, 1),
	}
	if o.Window > 0 {
		l.window = NewHistogram()
	}
	var err error
	if l.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	for i := range o.Conns {
		s, err := newSender(o, l.shape, i)
		if err != nil {
			l.close()
			return nil, err
		}
		l.senders = append(l.senders, s)
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: int32(i)}
		if err := unix.EpollCtl(l.ep, unix.EPOLL_CTL_ADD, s.fd, &ev); err != nil {
			l.close()
			return nil, err
		}
	}
	if o.Rate > 0 {
		perRequest := float64(l.shape.Bodies.Records * o.PerRequest)
		l.step = int64(perRequest * float64(o.Conns) / o.Rate * 1e9)
	}
	return l, nil
}

func (l *loop) close() {
	for _, s := range l.senders {
		unix.Close(s.fd)
	}
	if l.ep >= 0 {
		unix.Close(l.ep)
	}
}

// wallMs is the time of day, in ms since 1970, at a reading of the monotonic clock.
func (l *loop) wallMs(at int64) int64 { return l.wall + at/1e6 }

// wanted says whether a request should be sent at a time: now in the closed loop, the intended time in the open one. So what
// was due before the end is sent although the broker stalled until after it.
func (l *loop) wanted(at int64) bool {
	return unfinished(l.opts.Requests, l.begun, l.opts.Duration, at-l.began, l.opts.Both)
}

// late says that the open loop ended so long ago that a target which cannot hold its rate is not waited for any longer.
func (l *loop) late(at int64) bool {
	d := l.opts.Duration
	return d > 0 && l.opts.Requests <= 0 && at-l.began > int64(d+l.opts.Late)
}

// giveUp counts what was due and never sent, with the time that it has waited so far.
func (l *loop) giveUp() {
	for _, s := range l.senders {
		for ; s.due < l.ended && l.wanted(s.due); s.due += l.step {
			l.res.Unsent++
			Record(l.latency, l.ended-s.due)
		}
	}
}

// over says whether nothing more is to be sent.
func (l *loop) over(at int64) bool {
	if l.step == 0 {
		return !l.wanted(at)
	}
	if l.late(at) {
		return true
	}
	for _, s := range l.senders {
		if l.wanted(s.due) {
			return false
		}
	}
	return true
}

func (l *loop) run() {
	events := make([]unix.EpollEvent, len(l.senders))
	l.began = Now()
	l.nextTick = l.began + 1e9
	for i, s := range l.senders {
		s.due = l.began + l.step*int64(i)/int64(len(l.senders))
		for j := range s.flights {
			s.flights[j].free = l.began
		}
	}
	lastAnswer, lastDone := l.began, int64(0)
	for {
		at := Now()
		if !l.sendAll(at) {
			break
		}
		if l.done == l.begun && l.over(at) {
			break
		}
		n, e := EpollWait(l.ep, events, l.patience(Now()))
		if e != 0 && e != unix.EINTR {
			l.res.Fail("epoll: %v", e)
			break
		}
		ok := true
		for _, ev := range events[:max(n, 0)] {
			s := l.senders[ev.Fd]
			if ev.Events&unix.EPOLLOUT != 0 && s.blocked {
				ok = ok && s.flush(l)
			}
			if ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
				ok = ok && s.receive(l)
			}
		}
		if !ok {
			break
		}
		if l.done != lastDone {
			lastDone, lastAnswer = l.done, Now()
		} else if n == 0 && l.done < l.begun && Now()-lastAnswer > int64(l.opts.Patience) {
			l.res.Fail("no answer for %v", l.opts.Patience)
			break
		}
	}
	l.ended = Now()
	if l.step > 0 && l.res.FailureCount == 0 {
		l.giveUp()
	}
}

// sendAll begins every request that may begin; false ends the run.
func (l *loop) sendAll(at int64) bool {
	for _, s := range l.senders {
		for !s.writing && s.sent-s.answered < int64(len(s.flights)) {
			intended := at
			if l.step > 0 {
				if s.due > at || l.late(at) {
					break
				}
				intended = s.due
			}
			if !l.wanted(intended) {
				break
			}
			if l.step > 0 {
				s.due += l.step
				Record(l.lag, at-max(intended, s.flights[s.sent%int64(len(s.flights))].free))
			}
			l.begun++
			if !s.begin(l, intended, at) {
				return false
			}
			at = Now()
		}
	}
	return true
}

// patience is how long the loop may sleep.
func (l *loop) patience(at int64) time.Duration {
	if l.opts.Spin {
		return 0
	}
	if l.step == 0 {
		return time.Second
	}
	if !l.opts.Sleep {
		return 0
	}
	wait := int64(time.Second)
	for _, s := range l.senders {
		if !s.writing && s.sent-s.answered < int64(len(s.flights)) {
			wait = min(wait, s.due-at)
		}
	}
	return time.Duration(max(wait, 0))
}

// complete counts the oldest request of a connection as answered.
func (l *loop) complete(s *sender, at int64) {
	f := &s.flights[s.answered%int64(len(s.flights))]
	f.free = at
	s.answered++
	l.done++
	Record(l.latency, at-f.intended)
	for at >= l.nextTick {
		l.endSecond()
	}
	Record(l.second, (at-f.intended)/1000)
	if l.window != nil {
		Record(l.window, at-f.intended)
	}
	records := int64(l.shape.Bodies.Records * l.opts.PerRequest)
	l.tick.Records += records
	l.tick.Bytes += records * int64(l.opts.RecordSize)
}

// endSecond closes the figures of one second, and of a window if it is over.
func (l *loop) endSecond() {
	if len(l.intervals) < cap(l.intervals) {
		l.tick.P99, l.tick.Max = l.second.ValueAtQuantile(99), l.second.Max()
		l.intervals = append(l.intervals, l.tick)
	}
	l.second.Reset()
	l.tick = Interval{Second: l.tick.Second + 1}
	l.nextTick += 1e9
	if l.window != nil && l.tick.Second-l.windowAt >= int(l.opts.Window/time.Second) {
		l.endWindow()
	}
}

func (l *loop) endWindow() {
	if d := NewDist(l.window); d != nil {
		l.res.Windows = append(l.res.Windows, Window{Second: l.windowAt, Latency: d})
	}
	l.window.Reset()
	l.windowAt = l.tick.Second
}

func (l *loop) finish() {
	r := l.res
	b := l.shape.Bodies
	r.Seconds = float64(l.ended-l.began) / 1e9
	r.Requests = l.done
	r.Batches = l.done * int64(l.opts.PerRequest)
	r.Records = r.Batches * int64(b.Records)
	r.PayloadBytes = r.Batches * int64(b.Payload)
	r.Latency = NewDist(l.latency)
	r.Lag = NewDist(l.lag)
	l.tick.P99, l.tick.Max = l.second.ValueAtQuantile(99), l.second.Max()
	r.Intervals = append(l.intervals, l.tick)
	if l.window != nil {
		l.endWindow()
	}
	r.AckedEnds = make([]int64, l.opts.Partitions)
	for _, s := range l.senders {
		for p, end := range s.floor {
			r.AckedEnds[p] = max(r.AckedEnds[p], end)
		}
	}
	if l.done != l.begun {
		r.Fail("%d requests were not answered", l.begun-l.done)
	}
}

// unfinished says whether a load goes on: until it reaches the first of its two ends, or both; an end of 0 does not count.
func unfinished(amount, done int64, d time.Duration, elapsed int64, both bool) bool {
	byAmount, byTime := amount > 0 && done < amount, d > 0 && elapsed < int64(d)
	if both || amount <= 0 || d <= 0 {
		return byAmount || byTime
	}
	return byAmount && byTime
}

func advance(v *unix.Iovec, n int) {
	v.Base = (*byte)(unsafe.Add(unsafe.Pointer(v.Base), n))
	v.SetLen(int(v.Len) - n)
}
