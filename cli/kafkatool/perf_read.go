package kafkatool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// joinClock measures how long a member of a group is without partitions. Any goroutine.
type joinClock struct {
	mu    sync.Mutex
	owns  int           // partitions it has
	since time.Time     // when it gave back its partitions, or began
	all   time.Duration // in the whole run
	fresh time.Duration // since the last line
}

func (j *joinClock) assigned(_ context.Context, _ *kgo.Client, got map[string][]int32) {
	j.change(partitionsIn(got), time.Now())
}

func (j *joinClock) revoked(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	j.change(-partitionsIn(lost), time.Now())
}

// change stops the clock with the first partition and starts it when the last is gone.
func (j *joinClock) change(by int, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	had := j.owns > 0
	j.owns = max(0, j.owns+by)
	switch {
	case !had && j.owns > 0:
		j.all += now.Sub(j.since)
		j.fresh += now.Sub(j.since)
	case had && j.owns == 0:
		j.since = now
	}
}

func partitionsIn(m map[string][]int32) (n int) {
	for _, parts := range m {
		n += len(parts)
	}
	return n
}

func (j *joinClock) total() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.all
}

// take returns what has come since it was called last.
func (j *joinClock) take() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.fresh
	j.fresh = 0
	return d
}

// perfSpan is how much was read.
type perfSpan struct{ n, bytes int64 }

// perfReading is the reading loop. Owned by its goroutine.
type perfReading struct {
	p     *perfConsuming
	e     *Env
	joins *joinClock
	n     int64
	bytes int64
	last  perfSpan // at the last line
	since time.Time
}

func (r *perfReading) sum() perfSpan { return perfSpan{r.n, r.bytes} }

// read goes on until the number is reached or nothing came for the timeout.
func (r *perfReading) read(cl *kgo.Client) error {
	marks := r.p.c.props.Bool("enable.auto.commit", true)
	heard := time.Now()
	for now := heard; r.n < r.p.records && now.Sub(heard) <= r.p.timeout; {
		fetches, err := poll(r.e.Ctx, cl, r.p.polled)
		if err != nil {
			return err
		}
		now = time.Now()
		fetches.EachPartition(func(f kgo.FetchTopicPartition) {
			if len(f.Records) == 0 {
				return
			}
			heard = now
			for _, rec := range f.Records {
				r.n++
				r.bytes += int64(len(rec.Key) + len(rec.Value))
				if now.Sub(r.since) >= r.p.interval {
					r.report(now)
				}
			}
			if marks {
				cl.MarkCommitRecords(f.Records[len(f.Records)-1])
			}
		})
	}
	return nil
}

// report tells of what came since the last report.
func (r *perfReading) report(now time.Time) {
	if r.p.detailed {
		r.e.println("%s", perfLine(r.p.date.format(now)+", 0", r.sum(), r.last, now.Sub(r.since), r.joins.take()))
		_ = r.e.Out.Flush()
	}
	r.last, r.since = r.sum(), now
}

// perfLine is a line of the table: what was read in all, and the speed of what came since last, of the whole time and of that without joining.
func perfLine(times string, sum, last perfSpan, took, joining time.Duration) string {
	const mb = 1 << 20
	fresh := perfSpan{sum.n - last.n, sum.bytes - last.bytes}
	total, join := took.Milliseconds(), joining.Milliseconds()
	fetch := total - join
	rate := func(v float64, ms int64) float64 {
		if ms <= 0 {
			return 0
		}
		return v * 1000 / float64(ms)
	}
	return fmt.Sprintf("%s, %.4f, %.4f, %d, %.4f, %d, %d, %.4f, %.4f", times, float64(sum.bytes)/mb, rate(float64(fresh.bytes)/mb, total), sum.n,
		rate(float64(fresh.n), total), join, fetch, rate(float64(fresh.bytes)/mb, fetch), rate(float64(fresh.n), fetch))
}
