package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"millrace/bench/proc"
	"millrace/bench/target"
)

// soak keeps 50 MB/s going with retention and watches what creeps: latency of the last sixth against the first, memory,
// descriptors, goroutines. Deletion by retention is as often as the broker is set to look.
func (c *campaign) soak(ctx context.Context, i *target.Instance, x *Extra) error {
	c.topics++
	topic := fmt.Sprintf("bench-soak-%d-%d", time.Now().UnixNano(), c.topics)
	m := configs(i.Target, nil)
	m["retention.bytes"], m["segment.bytes"] = strconv.Itoa(512<<20), strconv.Itoa(64<<20)
	if err := target.CreateTopic(i.Addr, topic, 6, m); err != nil {
		return err
	}
	defer func() { _ = target.DeleteTopic(i.Addr, topic) }()
	p := paced(i, topic, 6, 50e6, c.Sizes.Soak)
	p.BatchBytes, p.Window = 16384, max(time.Second, c.Sizes.Soak/6)
	stop := make(chan struct{})
	done := make(chan []Sample, 1)
	go func() { done <- watchProcess(ctx, i, max(c.Sizes.Soak/360, 100*time.Millisecond), stop) }()
	r, err := c.part(x, "soak", Job{Produce: p})
	close(stop)
	x.Series = <-done
	if err != nil {
		return err
	}
	x.Values["MB/s"] = float64(r.PayloadBytes) / 1e6 / r.Seconds
	if len(r.Windows) < 2 {
		return errors.New("too short to compare its beginning with its end")
	}
	first, last := r.Windows[0].Latency, r.Windows[min(5, len(r.Windows)-1)].Latency
	x.Values["p99 us first"], x.Values["p99 us last"], x.Values["p99 last/first"] = first.P99, last.P99, last.P99/first.P99
	if n := len(x.Series) / 6; n > 0 {
		x.Values["taken by the host % first"], x.Values["taken by the host % last"] = taken(x.Series[:n]), taken(x.Series[len(x.Series)-n:])
	}
	if r.Broker != nil {
		x.Values["CPU s/GB"] = r.Broker.CPUSeconds / (float64(r.PayloadBytes) / 1e9)
	}
	if n := len(x.Series); n >= 6 {
		later := x.Series[n/3:] // the first third fills caches and reaches the retention's bound
		x.Values["RSS MB/h slope"] = slope(later, func(s Sample) float64 { return float64(s.RSSBytes) / 1e6 }) * 3600
		x.Values["RSS MB"] = float64(x.Series[n-1].RSSBytes) / 1e6
		x.Values["fds/h slope"] = slope(later, func(s Sample) float64 { return float64(s.Descriptors) }) * 3600
		x.Values["fds"] = float64(x.Series[n-1].Descriptors)
		x.Values["goroutines/h slope"] = slope(later, func(s Sample) float64 { return float64(s.Goroutines) }) * 3600
		x.Values["goroutines"] = float64(x.Series[n-1].Goroutines)
	}
	return nil
}

// taken is what the host took of the machine's CPU time over some samples, in percent.
func taken(s []Sample) float64 {
	var sum, seconds float64
	for i := range s {
		if i > 0 {
			sum += s[i].Stolen * (s[i].Second - s[i-1].Second)
			seconds += s[i].Second - s[i-1].Second
		}
	}
	if seconds <= 0 {
		return 0
	}
	return 100 * sum / seconds
}

// watchProcess reads the broker's process until it is stopped.
func watchProcess(ctx context.Context, i *target.Instance, every time.Duration, stop chan struct{}) []Sample {
	var out []Sample
	if i.PID <= 0 {
		return nil
	}
	began := time.Now()
	before := proc.ReadCPUTime()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return out
		case <-ctx.Done():
			return out
		case <-tick.C:
		}
		u, err := proc.Read(i.PID)
		if err != nil {
			return out
		}
		now := proc.ReadCPUTime()
		out = append(out, Sample{Second: time.Since(began).Seconds(), RSSBytes: u.RSSBytes, Descriptors: u.Descriptors, Threads: u.Threads, Goroutines: goroutines(ctx, i.Admin), CPUSeconds: u.CPUSeconds, Stolen: now.StolenSince(before)})
		before = now
	}
}

// goroutines asks an admin port; 0 if there is none.
func goroutines(ctx context.Context, admin string) int {
	if admin == "" {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/debug/pprof/goroutine?debug=1", nil)
	if err != nil {
		return 0
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	line, _ := bufio.NewReader(resp.Body).ReadString('\n')
	n, _ := strconv.Atoi(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:])) // goroutine profile: total 12
	return n
}

// slope is the least-squares growth per second.
func slope(s []Sample, value func(Sample) float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(s))
	for _, p := range s {
		y := value(p)
		sx, sy, sxx, sxy = sx+p.Second, sy+y, sxx+p.Second*p.Second, sxy+p.Second*y
	}
	if d := n*sxx - sx*sx; d != 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}
