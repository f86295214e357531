package groups

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/test/harness"
)

// protocols are the two ways to be a member.
var protocols = map[string]kgo.Opt{"classic": kgo.Balancers(kgo.CooperativeStickyBalancer()), "848": kgo.ServerSideBalancer()}

// TestEveryGroupReadsAll is unicast within a group and multicast between groups: each of three groups reads every record once.
func TestEveryGroupReadsAll(t *testing.T) {
	const partitions, total, groups = 4, 2000, 3
	for name, opt := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic := harness.Name("multicast")
			harness.CreateTopic(t, target.Addr, topic, partitions)
			var all [groups]*audience
			for g := range all {
				all[g] = &audience{t: t, owner: map[int32]string{}, read: map[int]int{}}
				for m := range 2 {
					defer all[g].join(fmt.Sprintf("g%d-m%d", g, m), topic, kgo.ConsumerGroup(fmt.Sprintf("%s-%d", topic, g)), opt)()
				}
			}
			fill(t, target.Addr, topic, partitions, 0, total)
			for _, a := range all {
				a.complete(total, partitions)
			}
		})
	}
}

// TestMoreMembersThanPartitions has members without a partition; they take over when the others leave.
func TestMoreMembersThanPartitions(t *testing.T) {
	const partitions, members, total = 2, 5, 600
	for name, opt := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic := harness.Name("crowd")
			harness.CreateTopic(t, target.Addr, topic, partitions)
			a := &audience{t: t, owner: map[int32]string{}, read: map[int]int{}}
			leave := map[string]func(){}
			for m := range members {
				name := fmt.Sprintf("m%d", m)
				leave[name] = a.join(name, topic, opt)
			}
			for part := range 3 {
				fill(t, target.Addr, topic, partitions, part*total, total)
				a.complete((part+1)*total, partitions)
				owners := a.owners()
				for name := range owners {
					if len(leave) > partitions {
						leave[name]()
						delete(leave, name)
					}
				}
			}
			if len(leave) > partitions {
				t.Errorf("%d members are left, so no idle one ever took over", len(leave))
			}
			for _, l := range leave {
				l()
			}
		})
	}
}

func (a *audience) owners() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]int{}
	for _, name := range a.owner {
		out[name]++
	}
	return out
}

// complete waits until everything was read and every partition has its owner; nothing may have been read twice.
func (a *audience) complete(total, partitions int) {
	a.t.Helper()
	deadline := time.Now().Add(40 * time.Second)
	for a.missing(total) > 0 || a.unowned(partitions) > 0 {
		if time.Now().After(deadline) {
			a.t.Fatalf("%d of %d records were never read, %d partitions have no owner", a.missing(total), total, a.unowned(partitions))
		}
		time.Sleep(20 * time.Millisecond)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for r, n := range a.read {
		if n > 1 {
			a.t.Errorf("record %d was read %d times", r, n)
		}
	}
}

func (a *audience) unowned(partitions int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return partitions - len(a.owner)
}

// TestMemberDies cuts a member off without a word while records are written. What it had read and not committed is read again by the
// one that takes over, and nothing else is.
func TestMemberDies(t *testing.T) {
	for name, opt := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memberDies(t, opt)
		})
	}
}

func memberDies(t *testing.T, opt kgo.Opt) {
	const partitions = 4
	topic := harness.Name("dies")
	harness.CreateTopic(t, target.Addr, topic, partitions)
	// The owners are not watched here: the dead member believes in its partitions for as long as it lives on behind the cut.
	survivors := &audience{t: t, owner: map[int32]string{}, read: map[int]int{}}
	defer survivors.join("survivor", topic, opt)()
	cut := &cutDialer{}
	doomed := newClient(t, target.Addr, kgo.Dialer(cut.dial), kgo.ConsumerGroup(topic), kgo.ConsumeTopics(topic), opt,
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(200*time.Millisecond),
		kgo.FetchMaxWait(100*time.Millisecond))
	enough, written := make(chan struct{}), make(chan int)
	go func() {
		n, more := 0, 10 // rounds after the cut
		for ; more > 0; n += 20 {
			select {
			case <-enough:
				more--
			case <-time.After(50 * time.Millisecond):
			}
			fill(t, target.Addr, topic, partitions, n, 20)
		}
		written <- n
	}()
	safe, open := map[int]bool{}, map[int]bool{} // committed, and only read
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for len(safe) < 100 || len(open) == 0 {
		if ctx.Err() != nil {
			close(enough)
			<-written
			t.Fatalf("the doomed member read too little: %d committed, %d more", len(safe), len(open))
		}
		var list []*kgo.Record
		doomed.PollFetches(ctx).EachRecord(func(r *kgo.Record) { list = append(list, r) })
		for _, r := range list {
			open[numberOf(t, r)] = true
		}
		if len(safe) >= 100 {
			continue
		}
		if err := doomed.CommitRecords(ctx, list...); err == nil {
			for n := range open {
				safe[n] = true
			}
			clear(open)
		}
	}
	cut.cut()
	close(enough)
	total := <-written
	deadline := time.Now().Add(60 * time.Second)
	missing := total
	for missing > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		missing = 0
		survivors.mu.Lock()
		for n := range total {
			if survivors.read[n] == 0 && !safe[n] {
				missing++
			}
		}
		survivors.mu.Unlock()
	}
	if missing > 0 {
		t.Errorf("%d records are lost: nobody committed them, and the survivor never read them", missing)
	}
	survivors.mu.Lock()
	defer survivors.mu.Unlock()
	for n, times := range survivors.read {
		if times > 1 || safe[n] {
			t.Errorf("record %d: read %d times by the survivor, committed by the dead member: %v", n, times, safe[n])
		}
	}
	t.Logf("%d records committed by the member that died, %d read and not committed, %d read by the survivor", len(safe), len(open), len(survivors.read))
}

func numberOf(t *testing.T, r *kgo.Record) int {
	n, err := strconv.Atoi(string(r.Value))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// cutDialer opens connections until it is cut; then none works any more. Any goroutine.
type cutDialer struct {
	mu    sync.Mutex
	gone  bool
	conns []net.Conn
}

func (d *cutDialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone {
		return nil, errors.New("cut off")
	}
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err == nil {
		d.conns = append(d.conns, c)
	}
	return c, err
}

func (d *cutDialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = true
	for _, c := range d.conns {
		c.Close()
	}
}
