package rawgen

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"

	"millrace/bench/wire"
)

// FetchOptions describes a consuming load.
type FetchOptions struct {
	Addr              string
	Topic             string
	TopicID           [16]byte // needed from version 13 on
	Partitions        int
	Version           int16 // 4 to 17; default 12
	Consumers         int   // connections; each reads all partitions from their start, and again from the start at their end
	MaxBytes          int32 // default 50 MiB
	PartitionMaxBytes int32 // default 4 MiB
	MinBytes          int32 // default 1
	MaxWaitMs         int32 // default 500
	Sessionless       bool
	Split             bool  // consumer i reads only the partitions p with p mod consumers = i
	Bytes             int64 // of record batches, over all consumers
	Duration          time.Duration
	Both              bool // go on until both ends are reached
	BatchLen          int  // if all batches have one size: bytes and records of each, so that only one header per partition is read
	BatchRecords      int
	RecordSize        int // bytes of a value, for the payload count
	SampleEvery       int // of so many partition answers one is walked whole and its first batch's checksum computed; default 64
	WatchPID          int
	Patience          time.Duration // default 60 s

	tail    []int64 // start at these offsets, which may be the end, and wait there
	ready   func()  // called once all consumers are connected
	stop    *atomic.Bool
	arrived func(partition int, base int64, at int64)
}

// EnsureDefaults fills what was left out.
func (o *FetchOptions) EnsureDefaults() {
	def(&o.Partitions, 1)
	def(&o.Version, 12)
	def(&o.Consumers, 1)
	def(&o.MaxBytes, 50<<20)
	def(&o.PartitionMaxBytes, 4<<20)
	def(&o.MinBytes, 1)
	def(&o.MaxWaitMs, 500)
	def(&o.SampleEvery, 64)
	def(&o.Patience, 60*time.Second)
}

// Validate says what cannot work.
func (o *FetchOptions) Validate() error {
	switch {
	case o.Version < 4 || o.Version > 17:
		return fmt.Errorf("fetch version %d is not in 4..17", o.Version)
	case o.Bytes <= 0 && o.Duration <= 0 && o.stop == nil:
		return errors.New("a load needs an end: bytes or duration")
	case (o.BatchLen > 0) != (o.BatchRecords > 0):
		return errors.New("bytes and records of a batch belong together")
	}
	return nil
}

// intervalsMax bounds the seconds that a consumer keeps.
const intervalsMax = 1 << 16

// consumer is one connection with one Fetch in flight. Owned by its thread.
type consumer struct {
	o       *FetchOptions
	index   int
	in      *stream
	req     *kmsg.FetchRequest
	format  *kmsg.RequestFormatter
	out     []byte
	first   []int64 // start of each partition
	next    []int64 // offset to fetch
	end     []int64
	asked   []int64 // as the session knows it; -1: not at all
	session int32
	epoch   int32
	corr    int32
	parts   int64 // partition answers with data
	batch   []byte
	latency *hdrhistogram.Histogram
	res     Result
	bytes   int64
	seconds []Interval // what came in each second since the load began
	began   int64
}

// Fetch runs a consuming load to its end.
func Fetch(o FetchOptions) (*Result, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	consumers := make([]*consumer, o.Consumers)
	for i := range consumers {
		c, err := newConsumer(&o)
		if err != nil {
			return nil, err
		}
		defer unix.Close(c.in.fd)
		c.index = i
		consumers[i] = c
	}
	if o.ready != nil {
		o.ready()
	}
	w := StartWatch(o.WatchPID, os.Getpid())
	began := Now()
	var wait sync.WaitGroup
	for _, c := range consumers {
		wait.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c.run(began)
		})
	}
	wait.Wait()
	ended := Now()
	total := &Result{Kind: "fetch", Seconds: float64(ended-began) / 1e9}
	w.Finish(total, os.Getpid())
	latency := NewHistogram()
	for _, c := range consumers {
		total.Requests += c.res.Requests
		total.Batches += c.res.Batches
		total.Records += c.res.Records
		total.WireBytes += c.bytes
		total.Verified += c.res.Verified
		total.FailureCount += c.res.FailureCount
		total.Failures = append(total.Failures, c.res.Failures...)
		latency.Merge(c.latency)
	}
	total.PayloadBytes = total.Records * int64(o.RecordSize)
	for _, c := range consumers {
		for n, s := range c.seconds {
			if n == len(total.Intervals) {
				total.Intervals = append(total.Intervals, Interval{Second: n})
			}
			total.Intervals[n].Records += s.Records
			total.Intervals[n].Bytes += s.Records * int64(o.RecordSize)
		}
	}
	total.Latency = NewDist(latency)
	return total, nil
}

func newConsumer(o *FetchOptions) (*consumer, error) {
	first, err := Offsets(o.Addr, o.Topic, o.Partitions, -2)
	if err != nil {
		return nil, err
	}
	end, err := Offsets(o.Addr, o.Topic, o.Partitions, -1)
	if err != nil {
		return nil, err
	}
	c := &consumer{o: o, first: first, end: end, next: append([]int64(nil), first...), asked: make([]int64, o.Partitions), latency: NewHistogram()}
	copy(c.next, o.tail)
	for i := range c.asked {
		c.asked[i] = -1
		if first[i] == end[i] && o.tail == nil {
			return nil, fmt.Errorf("partition %d of %s is empty", i, o.Topic)
		}
	}
	c.req = kmsg.NewPtrFetchRequest()
	c.req.Version, c.req.ReplicaID, c.req.MaxWaitMillis, c.req.MinBytes, c.req.MaxBytes = o.Version, -1, o.MaxWaitMs, o.MinBytes, o.MaxBytes
	c.format = kmsg.NewRequestFormatter(kmsg.FormatterClientID("rawgen"))
	fd, err := Dial(o.Addr, true)
	if err != nil {
		return nil, err
	}
	c.in = newStream(fd)
	return c, setTimeout(fd, o.Patience)
}

func (c *consumer) run(began int64) {
	c.began = began
	quota := c.o.Bytes / int64(c.o.Consumers)
	for {
		at := Now()
		if c.o.stop == nil && !unfinished(quota, c.bytes, c.o.Duration, at-began, c.o.Both) || c.o.stop != nil && c.o.stop.Load() {
			return
		}
		if err := c.ask(); err != nil {
			c.res.Fail("%v", err)
			return
		}
		if !c.answer() {
			return
		}
		c.res.Requests++
		Record(c.latency, Now()-at)
	}
}

// ask sends one Fetch: everything without a session, in a session what changed since the last one.
func (c *consumer) ask() error {
	topic := kmsg.NewFetchRequestTopic()
	if len(c.req.Topics) == 1 {
		topic.Partitions = c.req.Topics[0].Partitions[:0]
	}
	topic.Topic, topic.TopicID = c.o.Topic, c.o.TopicID
	for p, next := range c.next {
		if c.o.Split && p%c.o.Consumers != c.index {
			continue
		}
		if next >= c.end[p] && c.o.tail == nil {
			next = c.first[p] // read it all again
			c.next[p] = next
		}
		if c.session != 0 && c.asked[p] == next {
			continue
		}
		c.asked[p] = next
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = int32(p), next, c.o.PartitionMaxBytes
		topic.Partitions = append(topic.Partitions, rp)
	}
	c.req.Topics = append(c.req.Topics[:0], topic)
	if len(topic.Partitions) == 0 {
		c.req.Topics = c.req.Topics[:0]
	}
	c.req.SessionID, c.req.SessionEpoch = c.session, c.epoch
	if c.o.Sessionless {
		c.req.SessionID, c.req.SessionEpoch = 0, -1
	}
	c.corr++
	c.out = c.format.AppendRequest(c.out[:0], c.req, c.corr)
	for b := c.out; len(b) > 0; {
		n, err := unix.Write(c.in.fd, b)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("write: %w", err)
		}
		b = b[max(n, 0):]
	}
	return nil
}

// answer reads one answer; false ends the run.
func (c *consumer) answer() bool {
	in, v := c.in, c.o.Version
	flex := v >= 12
	in.int32() // length: the fields tell where the answer ends
	if corr := in.int32(); in.err == nil && corr != c.corr {
		c.res.Fail("answer %d came where %d was due", corr, c.corr)
		return false
	}
	in.tags(flex)
	in.int32() // throttle time
	if v >= 7 {
		code := in.int16()
		session := in.int32()
		if code != 0 {
			c.res.Fail("fetch: error code %d", code)
			return false
		}
		if !c.o.Sessionless {
			c.sessionSeen(session)
		}
	}
	ok := true
	for t := in.length(flex); t > 0 && in.err == nil; t-- {
		if v >= 13 {
			in.skip(16)
		} else {
			in.skipString(flex)
		}
		for p := in.length(flex); p > 0 && in.err == nil; p-- {
			ok = c.partition() && ok
		}
		in.tags(flex)
	}
	in.tags(flex)
	if in.err != nil {
		c.res.Fail("fetch: %v", in.err)
		return false
	}
	return ok
}

func (c *consumer) sessionSeen(id int32) {
	if id == 0 || id != c.session {
		for i := range c.asked {
			if id == 0 {
				c.asked[i] = -1
			}
		}
		c.session, c.epoch = id, 0
		if id == 0 {
			return
		}
	}
	c.epoch++
}

func (c *consumer) partition() bool {
	in, v := c.in, c.o.Version
	flex := v >= 12
	index := int(in.int32())
	code := in.int16()
	in.int64() // high watermark
	in.int64() // last stable offset
	if v >= 5 {
		in.int64() // log start
	}
	if aborted := in.length(flex); aborted > 0 {
		for ; aborted > 0 && in.err == nil; aborted-- {
			in.skip(16)
			in.tags(flex)
		}
	}
	if v >= 11 {
		in.int32() // preferred replica
	}
	n := in.length(flex)
	ok := true
	switch {
	case in.err != nil:
	case index < 0 || index >= len(c.next):
		c.res.Fail("partition %d was not asked for", index)
		in.skip(max(n, 0))
		ok = false
	default:
		if code != 0 {
			c.res.Fail("partition %d: error code %d", index, code)
			ok = false
		}
		if n > 0 {
			c.records(index, n)
		}
	}
	in.tags(flex)
	return ok
}

// records takes n bytes of batches. Whole batches of one known size are thrown away behind the first header; the header that
// the next answer begins with shows whether any was missing.
func (c *consumer) records(p, n int) {
	c.parts++
	c.bytes += int64(n)
	sampled := c.parts%int64(c.o.SampleEvery) == 0
	for first := true; n >= wire.BatchHeaderLen && c.in.err == nil; first = false {
		h := c.in.need(wire.BatchHeaderLen)
		base, last, total, count := wire.BaseOffset(h), wire.LastOffset(h), wire.TotalLen(h), wire.RecordCount(h)
		if base > c.next[p] || last < c.next[p] || !first && base != c.next[p] {
			c.res.Fail("partition %d: batch %d..%d came where offset %d was due", p, base, last, c.next[p])
			break
		}
		if total <= wire.BatchHeaderLen {
			c.res.Fail("partition %d: batch at %d says it has %d bytes", p, base, total)
			break
		}
		if total > n {
			break // cut off, legally
		}
		if c.o.arrived != nil {
			c.o.arrived(p, base, Now())
		}
		if c.o.BatchLen > 0 && !sampled {
			if total != c.o.BatchLen || count != c.o.BatchRecords {
				c.res.Fail("partition %d: batch at %d has %d bytes and %d records", p, base, total, count)
				break
			}
			whole := n / total
			c.count(p, whole, count, base+int64(whole*count))
			break
		}
		if sampled && first {
			c.verify(p, total)
		} else {
			c.in.skip(total)
		}
		c.count(p, 1, count, last+1)
		n -= total
	}
	c.in.skip(n)
}

func (c *consumer) count(p, batches, records int, next int64) {
	c.res.Batches += int64(batches)
	c.res.Records += int64(batches * records)
	c.next[p] = next
	second := int((Now() - c.began) / 1e9)
	for len(c.seconds) <= second && second < intervalsMax {
		c.seconds = append(c.seconds, Interval{})
	}
	if second < len(c.seconds) {
		c.seconds[second].Records += int64(batches * records)
	}
}

func (c *consumer) verify(p, total int) {
	if cap(c.batch) < total {
		c.batch = make([]byte, total)
	}
	b := c.batch[:total]
	c.in.full(b)
	if c.in.err == nil && !wire.ValidCRC(b) {
		c.res.Fail("partition %d: batch at %d has a wrong checksum", p, wire.BaseOffset(b))
	}
	c.res.Verified++
}
