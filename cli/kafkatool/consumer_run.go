package kafkatool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
)

// options translates Kafka's consumer properties.
func (c *consuming) options() ([]kgo.Opt, error) {
	p := c.props
	level := kgo.ReadUncommitted()
	if p["isolation.level"] == "read_committed" {
		level = kgo.ReadCommitted()
	}
	var err error
	number := func(name string, none int64) int64 {
		n, e := p.Int(name, none)
		err = errors.Join(err, e)
		return n
	}
	opts := []kgo.Opt{
		kgo.FetchIsolationLevel(level), kgo.AllowAutoTopicCreation(),
		kgo.FetchMinBytes(int32(number("fetch.min.bytes", 1))),
		kgo.FetchMaxWait(time.Duration(number("fetch.max.wait.ms", 500)) * time.Millisecond),
		kgo.FetchMaxBytes(int32(number("fetch.max.bytes", 50<<20))),
		kgo.FetchMaxPartitionBytes(int32(number("max.partition.fetch.bytes", 1<<20))),
	}
	if r := p["client.rack"]; r != "" {
		opts = append(opts, kgo.Rack(r))
	}
	reset := c.start
	if c.partition >= 0 {
		opts = append(opts, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{c.pattern: {int32(c.partition): c.start}}))
		reset = kgo.NewOffset().AtEnd()
	} else {
		opts = append(opts, kgo.ConsumeTopics(c.pattern))
		if p.Bool("include", false) {
			opts = append(opts, kgo.ConsumeRegex())
		}
	}
	return append(opts, kgo.ConsumeResetOffset(reset)), err
}

// groupOptions are those of a member of a group.
func (c *consuming) groupOptions(a *adjuster) ([]kgo.Opt, error) {
	p := c.props
	var err error
	millis := func(name string, none int64) time.Duration {
		n, e := p.Int(name, none)
		err = errors.Join(err, e)
		return time.Duration(n) * time.Millisecond
	}
	opts := []kgo.Opt{kgo.ConsumerGroup(c.group), kgo.RebalanceTimeout(millis("max.poll.interval.ms", 300000)), kgo.AdjustFetchOffsetsFn(a.adjust),
		kgo.OnPartitionsRevoked(a.forget), kgo.OnPartitionsLost(a.forget)}
	if p["group.protocol"] == "consumer" {
		opts = append(opts, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
		if p["group.remote.assignor"] == "range" {
			opts = append(opts, kgo.Balancers(kgo.RangeBalancer()))
		}
	} else {
		opts = append(opts, kgo.SessionTimeout(millis("session.timeout.ms", 45000)), kgo.HeartbeatInterval(millis("heartbeat.interval.ms", 3000)),
			kgo.Balancers(balancers(p["partition.assignment.strategy"])...))
	}
	if id := p["group.instance.id"]; id != "" {
		opts = append(opts, kgo.InstanceID(id))
	}
	if p.Bool("enable.auto.commit", true) {
		c.interval = max(millis("auto.commit.interval.ms", 5000), 100*time.Millisecond)
		opts = append(opts, kgo.AutoCommitMarks(), kgo.AutoCommitInterval(c.interval))
	} else {
		opts = append(opts, kgo.DisableAutoCommit())
	}
	return opts, err
}

// balancers are the assignors that Java's names mean; its own default is range first.
func balancers(strategy string) []kgo.GroupBalancer {
	var out []kgo.GroupBalancer
	for name, b := range map[string]func() kgo.GroupBalancer{"CooperativeSticky": kgo.CooperativeStickyBalancer, "RoundRobin": kgo.RoundRobinBalancer, "Range": kgo.RangeBalancer, "Sticky": kgo.StickyBalancer} {
		for _, s := range conn.Servers(strategy) {
			if s == "org.apache.kafka.clients.consumer."+name+"Assignor" {
				out = append(out, b())
			}
		}
	}
	if len(out) == 0 {
		out = []kgo.GroupBalancer{kgo.RangeBalancer(), kgo.CooperativeStickyBalancer()}
	}
	return out
}

// adjuster resolves positions that no commit names, so that they are committed as Java's consumer commits them: a described group shows every
// partition it owns. The client's goroutine adjusts, the consumer's marks; cl is set before the client can call.
type adjuster struct {
	cl     *kgo.Client
	commit bool
	none   bool // auto.offset.reset=none: a partition without a commit ends the consumer
	ready  chan struct{}

	mu      sync.Mutex
	lacking []string                             // partitions without a commit, of a consumer that none shall begin anywhere
	pending map[string]map[int32]kgo.EpochOffset // positions that nobody has committed and from which nothing was read yet
	since   time.Time
}

func (a *adjuster) later(topic string, partition int32, offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pending) == 0 {
		a.pending, a.since = map[string]map[int32]kgo.EpochOffset{}, time.Now()
	}
	if a.pending[topic] == nil {
		a.pending[topic] = map[int32]kgo.EpochOffset{}
	}
	a.pending[topic][partition] = kgo.EpochOffset{Epoch: -1, Offset: offset}
}

// read forgets the position of a partition that something was read from: what was read is committed in its stead.
func (a *adjuster) read(topic string, partition int32) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending[topic], partition)
	if len(a.pending[topic]) == 0 {
		delete(a.pending, topic)
	}
}

// forget drops all positions: the partitions are given back.
func (a *adjuster) forget(context.Context, *kgo.Client, map[string][]int32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = nil
}

// flush commits the positions that are older than wait and reports whether younger ones are left.
func (a *adjuster) flush(ctx context.Context, wait time.Duration) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	list := a.pending
	due := len(list) > 0 && time.Since(a.since) >= wait
	if due {
		a.pending = nil
	}
	a.mu.Unlock()
	if due {
		a.cl.CommitOffsetsSync(ctx, list, nil) // refused where the group has moved on, which is right
	}
	return len(list) > 0 && !due
}

func (a *adjuster) adjust(ctx context.Context, in map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	select {
	case <-a.ready:
	case <-ctx.Done():
		return in, ctx.Err()
	}
	if a.none {
		a.refuse(in)
		return in, nil
	}
	var list kadm.ListedOffsets
	adm := kadm.NewClient(a.cl)
	for topic, parts := range in {
		for p, o := range parts {
			at := o.EpochOffset().Offset
			if at >= 0 {
				continue
			}
			if list == nil {
				topics := make([]string, 0, len(in))
				for t := range in {
					topics = append(topics, t)
				}
				var err error
				if at == -2 {
					list, err = adm.ListStartOffsets(ctx, topics...)
				} else {
					list, err = adm.ListEndOffsets(ctx, topics...)
				}
				if err != nil {
					return in, nil // the client asks again by itself
				}
			}
			l, ok := list.Lookup(topic, p)
			if !ok || l.Err != nil {
				continue
			}
			parts[p] = kgo.NewOffset().At(l.Offset).WithEpoch(-1)
			if a.commit {
				a.later(topic, p, l.Offset)
			}
		}
	}
	return in, nil
}

// refuse notes the partitions that nobody has committed.
func (a *adjuster) refuse(in map[string]map[int32]kgo.Offset) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for topic, parts := range in {
		for p, o := range parts {
			if o.EpochOffset().Offset < 0 {
				a.lacking = append(a.lacking, fmt.Sprintf("%s-%d", topic, p))
			}
		}
	}
	slices.Sort(a.lacking)
}

// mayRefuse says that whoever polls has to look at refused now and then.
func (a *adjuster) mayRefuse() bool { return a != nil && a.none }

// refused is the error of a consumer that does not know where to begin.
func (a *adjuster) refused() error {
	if a == nil || !a.none {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.lacking) == 0 {
		return nil
	}
	return &noOffsetError{a.lacking}
}

// noOffsetError is Java's NoOffsetForPartitionException.
type noOffsetError struct{ partitions []string }

func (n *noOffsetError) Error() string {
	return "Undefined offset with no reset policy for partitions: [" + strings.Join(n.partitions, ", ") + "]"
}

// open makes the client; a broker without group support is read without a group if the user named none.
func (c *consuming) open(e *Env, bootstrap string) (*kgo.Client, error) {
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	if c.group == "" || c.partition >= 0 {
		return conn.Open(e.Ctx, bootstrap, c.props, opts...)
	}
	if !c.own && (e.own || !knowsGroups(e, c.props, bootstrap)) { // a subcommand leaves no group behind that nobody named
		return conn.Open(e.Ctx, bootstrap, c.props, opts...)
	}
	c.adjuster = &adjuster{commit: c.props.Bool("enable.auto.commit", true), none: c.props["auto.offset.reset"] == "none", ready: make(chan struct{})}
	more, err := c.groupOptions(c.adjuster)
	if err != nil {
		return nil, err
	}
	cl, err := conn.Open(e.Ctx, bootstrap, c.props, append(opts, more...)...)
	if err == nil {
		c.adjuster.cl = cl
		close(c.adjuster.ready)
	}
	return cl, err
}

func knowsGroups(e *Env, p conn.Properties, bootstrap string) bool {
	cl, err := conn.Open(e.Ctx, bootstrap, p)
	if err != nil {
		return true
	}
	defer cl.Close()
	resp, err := ask[*kmsg.ApiVersionsResponse](e, cl, versionsRequest())
	if err != nil {
		return true
	}
	for _, k := range resp.ApiKeys {
		if k.ApiKey == int16(kmsg.JoinGroup) {
			return true
		}
	}
	return false
}

// run reads until the number is reached, nothing comes any more or the user ends it.
func (c *consuming) run(e *Env, bootstrap string) error {
	cl, err := c.open(e, bootstrap)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that has enough, such as head, must not keep us from leaving the group
	n, err := c.loop(e, cl)
	_ = e.Out.Flush()
	commit := c.own && c.partition < 0 && c.props.Bool("enable.auto.commit", true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Ctx), goodbye)
	defer cancel()
	if commit {
		c.adjuster.flush(ctx, 0)
		if cerr := cl.CommitMarkedOffsets(ctx); cerr != nil && err == nil {
			e.logLine("WARN", "The last offsets could not be committed: "+plain(cerr), consumerClass)
		}
	}
	_ = cl.LeaveGroupContext(ctx)
	closeWithin(ctx, cl)
	if e.own && errors.Is(err, syscall.EPIPE) { // who reads it has enough
		e.Out.Reset(io.Discard)
		return nil
	}
	if err = c.ended(e, err); err != nil && e.own {
		return err
	}
	e.complain("Processed a total of %d messages", n)
	if e.Ctx.Err() != nil {
		return Exit(130)
	}
	return err
}

// ended tells why reading ended and returns what is an error for the caller: Kafka's tool ends with 0 whatever keeps it from
// reading on, only a message that it cannot show is an error.
func (c *consuming) ended(e *Env, err error) error {
	var shown *formatError
	var stdout *stdoutError
	switch {
	case err == nil || e.Ctx.Err() != nil:
		return nil
	case e.own && errors.Is(err, errTimeout): // the user said when it is over
		return nil
	case e.own && errors.As(err, &stdout):
		return fmt.Errorf("standard out: %w", stdout.cause)
	case e.own || errors.As(err, &shown):
		return err
	case errors.As(err, &stdout):
		e.complain("%s", err)
		return nil
	}
	e.logLine("ERROR", "Error processing message, terminating consumer process: ", consumerClass)
	if errors.Is(err, errTimeout) {
		e.complain("org.apache.kafka.common.errors.TimeoutException")
	} else {
		e.complain("%s: %s", consumerClassOf(err), plain(err))
	}
	return nil
}

// goodbye is how long committing and leaving may take: a coordinator that is gone must not hold up the end.
const goodbye = 5 * time.Second

// closeWithin closes the client, which leaves the group without a bound of its own, but waits no longer than ctx.
func closeWithin(ctx context.Context, cl *kgo.Client) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		cl.Close()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

var errTimeout = errors.New("no message in time")

// formatError is about a message that cannot be shown.
type formatError struct{ error }

func (f *formatError) Unwrap() error { return f.error }

func (c *consuming) loop(e *Env, cl *kgo.Client) (n int64, err error) {
	p := newProgress(e, "read", max(c.max, 0))
	defer p.done()
	marks := c.own && c.partition < 0 && c.props.Bool("enable.auto.commit", true)
	for c.max < 0 || n < c.max {
		fetches, err := c.poll(e, cl)
		if err != nil {
			return n, err
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if len(p.Records) > 0 {
				c.adjuster.read(p.Topic, p.Partition)
			}
		})
		var shown []*kgo.Record
		var failed error
		for it := fetches.RecordIter(); failed == nil && !it.Done() && (c.max < 0 || n < c.max); {
			r := it.Next()
			n++
			p.add(1)
			ferr := c.format.write(e.Out, r)
			switch {
			case ferr != nil && !c.skip:
				failed = &formatError{ferr}
				continue
			case ferr != nil:
				e.logLine("ERROR", "Error processing message, skipping this message: "+ferr.Error(), consumerClass)
			}
			shown = append(shown, r)
		}
		if err := e.Out.Flush(); err != nil {
			return n, &stdoutError{err}
		}
		if marks { // not what nobody took
			cl.MarkCommitRecords(shown...)
		}
		if failed != nil {
			return n, failed
		}
	}
	return n, nil
}

// stdoutError is about output that nobody takes.
type stdoutError struct{ cause error }

func (*stdoutError) Error() string   { return "Unable to write to standard out, closing consumer." }
func (s *stdoutError) Unwrap() error { return s.cause }

// poll waits for records, at most as long as the user wants to wait for the next one.
func (c *consuming) poll(e *Env, cl *kgo.Client) (kgo.Fetches, error) {
	ctx := e.Ctx
	if c.timeout >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(e.Ctx, c.timeout)
		defer cancel()
	}
	for {
		slice, cancel := ctx, context.CancelFunc(func() {})
		if c.adjuster.flush(ctx, c.interval) || c.adjuster.mayRefuse() {
			slice, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
		}
		fetches := cl.PollFetches(slice)
		cancel()
		if err := c.adjuster.refused(); err != nil {
			return nil, err
		}
		if !fetches.Empty() {
			return fetches, nil
		}
		if e.Ctx.Err() != nil {
			return nil, e.Ctx.Err()
		}
		if ctx.Err() != nil {
			return nil, errTimeout
		}
		for _, f := range fetches.Errors() {
			if !kerr.IsRetriable(f.Err) && !errors.Is(f.Err, context.DeadlineExceeded) && codeOf(f.Err) != 0 {
				var words *string // none: those of the code
				if errors.Is(f.Err, kerr.InvalidTopicException) {
					words = kmsg.StringPtr("Invalid topics: [" + f.Topic + "]")
				}
				return nil, conn.Code(codeOf(f.Err), words)
			}
		}
		// Something that mends itself, such as a topic that is just being made.
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
