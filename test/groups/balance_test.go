package groups

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/test/harness"
)

// TestBalancers lets members come and go while records are written, with each of the usual assignors: every record is read,
// no partition has two owners at a time, and at the end each partition has one.
func TestBalancers(t *testing.T) {
	for name, balancer := range map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(),
		"sticky": kgo.StickyBalancer(), "cooperative": kgo.CooperativeStickyBalancer()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			balance(t, harness.Name(name), kgo.Balancers(balancer))
		})
	}
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		balance(t, harness.Name("server"), kgo.ServerSideBalancer())
	})
}

// audience is what the members of one group own and have read. Any goroutine.
type audience struct {
	t     *testing.T
	mu    sync.Mutex
	owner map[int32]string
	read  map[int]int
}

func balance(t *testing.T, topic string, opts ...kgo.Opt) {
	const partitions, total = 6, 3000
	harness.CreateTopic(t, target.Addr, topic, partitions)
	a := &audience{t: t, owner: map[int32]string{}, read: map[int]int{}}
	written := make(chan struct{})
	go func() {
		defer close(written)
		for from := 0; from < total; from += 100 {
			fill(t, target.Addr, topic, partitions, from, 100)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	var stops []func()
	for i := range 3 {
		stops = append(stops, a.join(fmt.Sprintf("m%d", i), topic, opts...))
		time.Sleep(400 * time.Millisecond)
	}
	stops[0]() // the leader of the first generation
	stops = append(stops, a.join("late", topic, opts...))
	time.Sleep(300 * time.Millisecond)
	stops[1]()
	<-written
	deadline := time.Now().Add(40 * time.Second)
	for a.missing(total) > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if n := a.missing(total); n > 0 {
		t.Errorf("%d of %d records were never read", n, total)
	}
	a.mu.Lock()
	if len(a.owner) != partitions {
		t.Errorf("owners at the end: %v", a.owner)
	}
	twice := 0
	for _, n := range a.read {
		if n > 1 {
			twice++
		}
	}
	a.mu.Unlock()
	if twice > 0 {
		t.Errorf("%d records were read twice, though every member left in good order", twice)
	}
	for _, stop := range stops[2:] {
		stop()
	}
}

func (a *audience) missing(total int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return total - len(a.read)
}

// join starts a member; what it returns makes it leave in good order.
func (a *audience) join(name, topic string, opts ...kgo.Opt) (leave func()) {
	took := func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, p := range parts[topic] {
			if other, ok := a.owner[p]; ok {
				a.t.Errorf("partition %d is given to %s while %s owns it", p, name, other)
			}
			a.owner[p] = name
		}
	}
	gave := func(parts map[string][]int32) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, p := range parts[topic] {
			if a.owner[p] == name {
				delete(a.owner, p)
			}
		}
	}
	cl := newClient(a.t, target.Addr, append([]kgo.Opt{
		kgo.ConsumerGroup(topic), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.BlockRebalanceOnPoll(),
		kgo.DisableAutoCommit(), kgo.HeartbeatInterval(100 * time.Millisecond), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.OnPartitionsAssigned(took),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) { gave(parts) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) { gave(parts) }),
	}, opts...)...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			a.poll(ctx, cl)
		}
	}()
	return func() {
		cancel()
		<-done
		cl.CloseAllowingRebalance()
	}
}

// poll reads once and commits what it read before the group may rebalance.
func (a *audience) poll(ctx context.Context, cl *kgo.Client) {
	fetches := cl.PollFetches(ctx)
	var list []*kgo.Record
	fetches.EachRecord(func(r *kgo.Record) { list = append(list, r) })
	if len(list) > 0 {
		if err := cl.CommitRecords(context.Background(), list...); err != nil {
			a.t.Errorf("commit: %v", err)
		}
		a.mu.Lock()
		for _, r := range list {
			n, err := strconv.Atoi(string(r.Value))
			if err != nil {
				a.t.Error(err)
			}
			a.read[n]++
		}
		a.mu.Unlock()
	}
	cl.AllowRebalance()
}
