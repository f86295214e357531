package rawgen

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"
)

// CrowdOptions describe connections that long-poll partitions in which nothing happens.
type CrowdOptions struct {
	Addr       string
	Topic      string
	Partitions int
	Conns      int           // default 2000
	MaxWaitMs  int32         // default 500
	Settle     time.Duration // before anything is measured; default 1 s
	Duration   time.Duration
	WatchPID   int
}

// poller is one connection of the crowd. Owned by the crowd's loop.
type poller struct {
	fd     int
	asked  int64
	corr   int32
	have   int
	answer [512]byte
}

// Crowd holds so many connections, each with one Fetch of one partition at its end, and asks again when an answer comes.
// Latency is the time of a poll: about the wait that was asked for. Broker is what the crowd cost.
func Crowd(o CrowdOptions) (*Result, error) {
	def(&o.Partitions, 1)
	def(&o.Conns, 2000)
	def(&o.MaxWaitMs, 500)
	def(&o.Settle, time.Second)
	if o.Duration <= 0 {
		return nil, errors.New("a crowd needs a duration")
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < limit.Max {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	ends, err := Offsets(o.Addr, o.Topic, o.Partitions, -1)
	if err != nil {
		return nil, err
	}
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(ep)
	requests := make([][]byte, o.Partitions)
	for p := range requests {
		requests[p] = pollRequest(&o, p, ends[p])
	}
	pollers := make([]*poller, 0, o.Conns)
	defer func() {
		for _, p := range pollers {
			unix.Close(p.fd)
		}
	}()
	r := &Result{Kind: "crowd"}
	for i := range o.Conns {
		fd, err := Dial(o.Addr, false)
		if err != nil {
			return nil, err
		}
		p := &poller{fd: fd}
		pollers = append(pollers, p)
		if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: int32(i)}); err != nil {
			return nil, err
		}
		if err := p.ask(requests[i%o.Partitions]); err != nil {
			return nil, err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	events := make([]unix.EpollEvent, 256)
	latency := NewHistogram()
	start := Now()
	from := start + int64(o.Settle)
	var watch Watch
	for {
		at := Now()
		if r.Seconds == 0 && at >= from {
			watch = StartWatch(o.WatchPID, os.Getpid())
			from, r.Seconds = at, -1
		}
		if r.Seconds < 0 && at-from >= int64(o.Duration) {
			r.Seconds = float64(at-from) / 1e9
			break
		}
		n, _ := EpollWait(ep, events, 50*time.Millisecond)
		for _, ev := range events[:max(n, 0)] {
			p := pollers[ev.Fd]
			whole, err := p.receive()
			if err != nil {
				r.Fail("poller %d: %v", ev.Fd, err)
				return r, nil
			}
			if !whole {
				continue
			}
			if r.Seconds < 0 {
				r.Requests++
				Record(latency, Now()-p.asked)
			}
			if err := p.ask(requests[int(ev.Fd)%o.Partitions]); err != nil {
				r.Fail("poller %d: %v", ev.Fd, err)
				return r, nil
			}
		}
	}
	watch.Finish(r, os.Getpid())
	r.Latency = NewDist(latency)
	return r, nil
}

func pollRequest(o *CrowdOptions, partition int, at int64) []byte {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 12, -1, o.MaxWaitMs, 1, 50<<20
	req.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = o.Topic
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = int32(partition), at, 1<<20
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("crowd")).AppendRequest(nil, req, 0)
}

// ask sends the request with the next number; a request of a hundred bytes on an idle socket goes out whole.
func (p *poller) ask(request []byte) error {
	p.corr++
	binary.BigEndian.PutUint32(request[8:], uint32(p.corr))
	p.asked, p.have = Now(), 0
	n, err := unix.Write(p.fd, request)
	if err == nil && n != len(request) {
		err = errors.New("a request was written in part")
	}
	return err
}

// receive takes bytes; true when the answer is whole.
func (p *poller) receive() (bool, error) {
	n, e := RecvNow(p.fd, p.answer[p.have:])
	switch {
	case e == unix.EAGAIN || e == unix.EINTR:
		return false, nil
	case e != 0 || n == 0:
		return false, errors.New("closed by the broker")
	}
	if p.have += n; p.have < 4 {
		return false, nil
	}
	size := 4 + int(binary.BigEndian.Uint32(p.answer[:]))
	switch {
	case size > len(p.answer):
		return false, errors.New("an answer with data, where nothing happens")
	case p.have < size:
		return false, nil
	case int32(binary.BigEndian.Uint32(p.answer[4:])) != p.corr:
		return false, errors.New("an answer to another request")
	}
	return true, nil
}
