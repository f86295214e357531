package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"millrace/test/harness"
)

// TestMain keeps the verifiers' garbage from taking the memory in which the broker's files are cached.
func TestMain(m *testing.M) {
	debug.SetMemoryLimit(3 << 30)
	os.Exit(m.Run())
}

// load is a set of producers and their verifiers. Owned by the test.
type load struct {
	t         *testing.T
	b         *harness.Broker
	producers []*producer
	verifiers []*verifier
}

// startLoad starts n idempotent producers and plain acks=1 producers on a new topic.
func startLoad(t *testing.T, b *harness.Broker, seed uint64, topic string, idempotent, plain int, config ...string) *load {
	harness.CreateTopic(t, b.Addr, topic, idempotent+plain, config...)
	l := &load{t: t, b: b}
	for i := range idempotent + plain {
		p := newProducer(t, b.Addr, topic, int32(i), i < idempotent, seed)
		l.producers = append(l.producers, p)
		l.verifiers = append(l.verifiers, newVerifier(p))
		go p.run()
	}
	return l
}

// join makes one load of two.
func (l *load) join(other *load) *load {
	return &load{t: l.t, b: l.b, producers: append(l.producers, other.producers...), verifiers: append(l.verifiers, other.verifiers...)}
}

// verify reads behind the load; every error ends the test.
func (l *load) verify() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, v := range l.verifiers {
		if err := v.catchUp(ctx); err != nil {
			l.t.Logf("what the broker is doing:\n%s", l.b.Stacks())
			l.t.Fatal(err)
		}
	}
	l.failures()
}

// failures ends the test if a producer met what must never happen.
func (l *load) failures() {
	l.t.Helper()
	for _, p := range l.producers {
		if err := p.failure(); err != nil {
			l.t.Fatalf("producer of %s-%d: %v", p.topic, p.partition, err)
		}
	}
}

// setOutage tells the producers that the disk is gone, or back.
func (l *load) setOutage(gone bool) {
	for _, p := range l.producers {
		p.outage.Store(gone)
	}
}

// progress waits until every producer had n more records acknowledged.
func (l *load) progress(n int64, limit time.Duration) {
	l.t.Helper()
	deadline := time.Now().Add(limit)
	for _, p := range l.producers {
		from := p.acknowledged()
		for p.acknowledged() < from+n {
			if err := p.failure(); err != nil {
				l.t.Fatalf("producer of %s-%d: %v", p.topic, p.partition, err)
			}
			if time.Now().After(deadline) {
				l.t.Fatalf("producer of %s-%d: %d records acknowledged within %v, want %d", p.topic, p.partition, p.acknowledged()-from, limit, n)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// finish stops the producers, waits until all is acknowledged, and reads everything twice.
func (l *load) finish() {
	l.t.Helper()
	for _, p := range l.producers {
		close(p.stop)
	}
	for _, p := range l.producers {
		select {
		case <-p.done:
		case <-time.After(30 * time.Second):
			l.t.Fatalf("producer of %s-%d: not everything acknowledged 30 s after the end", p.topic, p.partition)
		}
	}
	l.verify()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var acked, resent int64
	for _, v := range l.verifiers {
		if err := v.final(ctx); err != nil {
			l.t.Fatal(err)
		}
		acked += v.p.acked
		resent += v.p.resent
	}
	l.t.Logf("%d records acknowledged and read back in order; %d batches were sent again", acked, resent)
}

// abandon stops the producers when the test ended early.
func (l *load) abandon() {
	for _, p := range l.producers {
		if !p.stopping() {
			close(p.stop)
		}
	}
}

// rounds is the number of crashes of a test.
func rounds(t testing.TB, usual int) int { return amount(t, "MILLRACE_ROUNDS", usual) }

// amount is a size of a test that a variable of the environment changes.
func amount(t testing.TB, variable string, usual int) int {
	s := os.Getenv(variable)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: want a number", variable, s)
	}
	return n
}

// seeded returns the source of a test's choices and prints its seed.
func seeded(t testing.TB) (*rand.Rand, uint64) {
	seed := rand.Uint64()
	if s := os.Getenv("MILLRACE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("MILLRACE_SEED=%q: %v", s, err)
		}
	}
	t.Logf("MILLRACE_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 7)), seed
}

// startTimes notes how long starts after a crash took.
type startTimes struct{ all []time.Duration }

func (s *startTimes) add(d time.Duration) { s.all = append(s.all, d) }

// check prints the distribution and fails if the slowest start is above MILLRACE_START_LIMIT.
func (s *startTimes) check(t *testing.T) {
	if len(s.all) == 0 {
		return
	}
	limit := 10 * time.Second // a start syncs, and the disk may have others to serve
	if v := os.Getenv("MILLRACE_START_LIMIT"); v != "" {
		var err error
		if limit, err = time.ParseDuration(v); err != nil {
			t.Fatalf("MILLRACE_START_LIMIT: %v", err)
		}
	}
	slices.Sort(s.all)
	worst := s.all[len(s.all)-1]
	t.Log(fmt.Sprintf("%d starts: p50 %v, worst %v", len(s.all), s.all[len(s.all)/2].Round(time.Millisecond), worst.Round(time.Millisecond)))
	if worst > limit {
		t.Errorf("slowest start took %v, want at most %v", worst, limit)
	}
}

// start starts a broker on dir and ends it with the test.
func start(t *testing.T, dir string, overrides ...string) *harness.Broker {
	t.Helper()
	b, err := harness.Start(harness.Options{Dir: dir, Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Kill()
		if t.Failed() {
			t.Logf("end of the broker's log:\n%s", b.Logs()[max(0, len(b.Logs())-6000):])
		}
	})
	return b
}
