package producer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"millrace/bench/rawgen"
	"millrace/bench/wire"
)

// load is a running producer: application, sender and network client on one thread. Owned by that thread.
type load struct {
	o      *Options
	acc    *Accumulator
	cl     *client
	ready  []bool
	values [][]byte

	appended int64 // records
	rateFrom int64 // time of record 0 of the open loop
	tick     int64 // when the next lump is due
	slice    int64 // ns that the application gets before the sender's next turn (closed loop)
	blocked  int64 // since when the application waits for memory; 0: it does not
	at       int   // partition of the next record
	sticky   int   // bytes given to it

	wall     int64
	counting bool
	began    int64
	ended    int64
	count    counters
	res      *rawgen.Result
	latency  *hdrhistogram.Histogram
	wait     *hdrhistogram.Histogram
	rtt      *hdrhistogram.Histogram
}

// counters are what happened while counting.
type counters struct {
	requests, batches, records, bytes, wire, turns int64
	blockedNs                                      int64
	leastMemory                                    int64
}

// Run produces to the load's end. An error means that it could not run; what went wrong in a run stands in the Result.
func Run(o Options) (*rawgen.Result, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	cl, err := resolve(o.Addr, o.Topic)
	if err != nil {
		return nil, err
	}
	l := &load{
		o: &o, acc: NewAccumulator(&o, cl.leaders, len(cl.addrs)), ready: make([]bool, len(cl.addrs)),
		wall: time.Now().UnixMilli() - rawgen.Now()/1e6, res: &rawgen.Result{Kind: "model"},
		latency: rawgen.NewHistogram(), wait: rawgen.NewHistogram(), rtt: rawgen.NewHistogram(), values: values(o.RecordSize),
	}
	if o.Idempotent {
		if l.acc.who.id, l.acc.who.epoch, err = rawgen.InitProducer(o.Addr); err != nil {
			return nil, err
		}
	}
	if l.cl, err = newClient(&o, cl.addrs, l.answered); err != nil {
		return nil, err
	}
	defer l.cl.close()
	bad := make(chan string, 1)
	if o.NoBad {
		bad <- ""
	} else {
		go func() {
			time.Sleep(50 * time.Millisecond) // the load is under way
			bad <- rawgen.SendBad(rawgen.ProduceOptions{Addr: cl.addrs[cl.leaders[0]], Topic: o.Topic, Partitions: len(cl.leaders), RecordSize: o.RecordSize})
		}()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := l.run(); err != nil {
		l.res.Fail("%v", err)
	}
	l.finish(len(cl.addrs), len(cl.leaders))
	l.res.BadRecord = <-bad
	if !o.NoBad && l.res.BadRecord != rawgen.BadRefused {
		l.res.Fail("the spoiled batch was answered with %s", l.res.BadRecord)
	}
	return l.res, nil
}

// values are a few record values, a quarter of each random.
func values(size int) [][]byte {
	rng := rand.New(rand.NewPCG(7, 0x6d6f64656c))
	out := make([][]byte, 16)
	for i := range out {
		out[i] = make([]byte, size)
		for j := range out[i] {
			out[i][j] = "abcdefghijklmnopqrstuvwxyz012345"[j%32]
			if j%4 == 0 {
				out[i][j] = byte(rng.Uint32())
			}
		}
	}
	return out
}

func (l *load) run() error {
	start := rawgen.Now()
	l.rateFrom, l.tick = start, start
	countFrom := start + int64(l.o.Warmup)
	end := int64(math.MaxInt64)
	if l.o.Duration > 0 {
		end = countFrom + int64(l.o.Duration)
	}
	var watch rawgen.Watch
	stop := false
	lastAnswer, lastFlying := start, 0
	for {
		at := rawgen.Now()
		if !l.counting && l.ended == 0 && at >= countFrom {
			watch = rawgen.StartWatch(l.o.WatchPID, os.Getpid())
			l.counting, l.began = true, rawgen.Now()
			l.count = counters{leastMemory: l.acc.pool.available()}
		}
		if !stop && (at >= end || l.o.Records > 0 && l.appended >= l.o.Records) {
			stop = true
			l.acc.Close()
		}
		if l.counting && (at >= end || stop && l.acc.Incomplete() == 0) {
			l.counting, l.ended = false, at
			l.unblock(at)
			watch.Finish(l.res, os.Getpid())
		}
		if stop && l.acc.Incomplete() == 0 {
			return nil
		}
		if !stop && l.blocked != 0 { // what waits can go before new records are made: they overlap with the answer
			if _, err := l.sender(at); err != nil {
				return err
			}
			at = rawgen.Now()
		}
		if !stop {
			at = l.application(at)
		}
		next, err := l.sender(at)
		if err != nil {
			return err
		}
		// Memory is looked at when it is scarcest: after appends, before answers.
		l.count.leastMemory = min(l.count.leastMemory, l.acc.pool.available())
		l.slice = rawgen.Now() - at
		n, err := l.cl.poll(l.patience(stop, next, countFrom, end))
		if err != nil {
			return err
		}
		if flying := l.cl.inFlight(); n > 0 || flying == 0 || flying != lastFlying {
			lastAnswer, lastFlying = rawgen.Now(), flying
		} else if rawgen.Now()-lastAnswer > int64(l.o.Patience) {
			return fmt.Errorf("no answer for %v", l.o.Patience)
		}
	}
}

// application appends what is due, until memory is exhausted; it returns the time afterwards.
func (l *load) application(at int64) int64 {
	if l.o.Rate > 0 {
		if at < l.tick && l.blocked == 0 {
			return at
		}
		for l.more() {
			due := l.due(l.appended)
			if due > at || !l.append(due, at) {
				break
			}
		}
		if l.tick <= at {
			l.tick += (at - l.tick + int64(l.o.Tick)) / int64(l.o.Tick) * int64(l.o.Tick)
		}
		return rawgen.Now()
	}
	woken := false
	for until := at + l.slice; l.more(); {
		for range 8 {
			if !l.more() {
				break
			}
			r := l.appendOne(at, at)
			if !r.OK {
				return rawgen.Now()
			}
			woken = woken || r.Wakes()
			if woken && l.slice < 2000 {
				break
			}
		}
		if at = rawgen.Now(); woken && at >= until {
			break
		}
	}
	return at
}

func (l *load) more() bool { return l.o.Records <= 0 || l.appended < l.o.Records }

// due is when a record of the open loop should be handed over.
func (l *load) due(n int64) int64 { return l.rateFrom + int64(float64(n)*1e9/l.o.Rate) }

func (l *load) append(intended, at int64) bool { return l.appendOne(intended, at).OK }

func (l *load) appendOne(intended, at int64) Appended {
	r := l.acc.Append(l.at, l.values[l.appended&15], intended, at, l.wall+at/1e6)
	if !r.OK {
		if l.blocked == 0 {
			l.blocked = at
		}
		return r
	}
	l.unblock(at)
	l.appended++
	if l.o.Spread == SpreadRound {
		l.next()
		return r
	}
	if l.sticky += l.o.RecordSize; l.sticky >= l.o.BatchSize || r.Full {
		l.next()
	}
	return r
}

func (l *load) next() {
	l.sticky = 0
	if l.at++; l.at == len(l.acc.parts) {
		l.at = 0
	}
}

func (l *load) unblock(at int64) {
	if l.blocked != 0 {
		if l.counting || l.ended == at {
			l.count.blockedNs += at - max(l.blocked, l.began)
		}
		l.blocked = 0
	}
}

// sender is one turn of Kafka's: which nodes are ready, drain those that can take a request, send. It returns how long it may
// sleep for what waits in the accumulator.
func (l *load) sender(at int64) (int64, error) {
	l.count.turns++
	next := l.acc.Ready(at, l.ready)
	for n, ready := range l.ready {
		if !ready || !l.cl.ready(n) {
			continue
		}
		if l.o.PerPartition {
			sent, err := l.sendSingly(n, at)
			if err != nil {
				return 0, err
			}
			if sent {
				next = 0
			}
			continue
		}
		r := l.cl.slot(n)
		r.batches = l.acc.Drain(n, l.o.MaxRequestSize, r.batches[:0])
		if err := l.dispatch(n, r, at); err != nil {
			return 0, err
		}
		next = 0 // Kafka polls without waiting after it sent
	}
	return next, nil
}

// sendSingly sends a request for each partition whose batch may go, as long as requests in flight allow; what cannot go yet stays
// open and fills further.
func (l *load) sendSingly(n int, at int64) (bool, error) {
	sent := false
	for l.cl.ready(n) {
		r := l.cl.slot(n)
		if r.batches = l.acc.DrainOne(n, at, r.batches[:0]); len(r.batches) == 0 {
			break
		}
		if err := l.dispatch(n, r, at); err != nil {
			return false, err
		}
		sent = true
	}
	return sent, nil
}

func (l *load) dispatch(n int, r *request, at int64) error {
	if l.counting {
		for _, b := range r.batches {
			rawgen.Record(l.wait, at-b.intended[0])
		}
	}
	return l.cl.send(n, rawgen.Now())
}

// patience is how long poll may wait.
func (l *load) patience(stop bool, next, countFrom, end int64) time.Duration {
	at := rawgen.Now()
	wait := int64(time.Second)
	canSend := false
	for n := range l.ready {
		canSend = canSend || l.cl.ready(n)
	}
	if canSend && next < wait { // what waits for an answer first is woken by it
		wait = next
	}
	if !stop && l.blocked == 0 {
		if l.o.Rate == 0 {
			return 0
		}
		wait = min(wait, max(l.tick, l.due(l.appended))-at)
	}
	if !stop {
		wait = min(wait, end-at)
		if l.began == 0 {
			wait = min(wait, countFrom-at)
		}
	}
	return time.Duration(max(wait, 0))
}

// answered completes a request.
func (l *load) answered(r *request, results []wire.Produced) error {
	at := rawgen.Now()
	for _, res := range results {
		if res.Code != 0 {
			l.res.Fail("partition %d: error code %d", res.Partition, res.Code)
		}
	}
	if l.counting {
		rawgen.Record(l.rtt, at-r.sentAt)
		l.count.requests++
		l.count.wire += int64(r.size)
	}
	for _, b := range r.batches {
		if l.counting {
			l.count.batches++
			l.count.records += int64(b.Records)
			l.count.bytes += int64(len(b.buf))
			for _, intended := range b.intended {
				rawgen.Record(l.latency, at-intended)
			}
		}
		l.acc.Done(b)
	}
	r.batches = r.batches[:0]
	return nil
}

func (l *load) finish(nodes, partitions int) {
	r, c := l.res, l.count
	if l.ended == 0 {
		l.ended = rawgen.Now()
	}
	r.Seconds = float64(l.ended-l.began) / 1e9
	r.Requests, r.Batches, r.Records, r.WireBytes = c.requests, c.batches, c.records, c.wire
	r.PayloadBytes = c.records * int64(l.o.RecordSize)
	r.Latency = rawgen.NewDist(l.latency)
	m := &rawgen.ModelStats{Brokers: nodes, Partitions: partitions, Wait: rawgen.NewDist(l.wait), RoundTrip: rawgen.NewDist(l.rtt), BatchBytes: c.bytes,
		Turns: c.turns, BlockedSeconds: float64(c.blockedNs) / 1e9, LeastMemory: c.leastMemory}
	if c.batches > 0 {
		m.RecordsPerBatch = float64(c.records) / float64(c.batches)
		m.Fill = float64(c.bytes) / float64(c.batches) / float64(max(l.o.BatchSize, SizeUpperBound(l.o.RecordSize)))
	}
	if c.requests > 0 {
		m.BatchesPerRequest = float64(c.batches) / float64(c.requests)
	}
	r.Model = m
	if n := l.acc.Incomplete(); n > 0 {
		r.Fail("%d batches were not answered", n)
	}
}
