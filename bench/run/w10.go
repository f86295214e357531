package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"millrace/bench/rawgen"
	"millrace/bench/target"
)

// paced is an open load of 64 KiB batches of 1 KiB records, so many payload bytes per second, one batch per request.
func paced(i *target.Instance, topic string, partitions int, bytesPerSecond float64, d time.Duration) *rawgen.ProduceOptions {
	return &rawgen.ProduceOptions{Addr: i.Addr, Topic: topic, Partitions: partitions, PerRequest: 1, Rotate: true, Acks: 1, Conns: 1, Depth: 64, RecordSize: 1024, BatchBytes: 65536,
		Rate: bytesPerSecond / 1024, Sleep: true, Duration: d, WatchPID: i.PID, NoBad: !i.Target.ChecksRecords()}
}

// w10: a backlog is made cold, then three consumers share it while producers keep their rate; produce alone is measured before.
func (c *campaign) w10(_ context.Context, i *target.Instance, x *Extra) error {
	topic, err := c.topic(i, nil, 6)
	if err != nil {
		return err
	}
	defer func() { _ = target.DeleteTopic(i.Addr, topic) }()
	fill := w1Options()
	b := batch(&fill)
	fill.Addr, fill.Topic, fill.NoBad = i.Addr, topic, true
	fill.Requests = max(1, c.Sizes.Backlog/int64(b.Payload*fill.PerRequest))
	filled, err := c.part(x, "fill", Job{Produce: &fill})
	if err != nil {
		return err
	}
	unix.Sync() // or what the fill left dirty is written back beside the load that should show a broker at rest
	before, err := c.part(x, "before", Job{Produce: paced(i, topic, 6, 100e6, c.Sizes.OpenSeconds)})
	if err != nil {
		return err
	}
	unix.Sync()
	if i.Target.Kind == target.Address {
		x.Notes = append(x.Notes, "a broker that runs elsewhere: its backlog could not be made cold")
	} else if n, left, err := cool(i.Place.Dir); err != nil {
		return err
	} else {
		x.Values["cold MB"], x.Values["still cached MB"] = float64(n-left)/1e6, float64(left)/1e6
	}
	backlog := filled.Batches * int64(b.BatchLen())
	// The drain is over long before an hour; the producer goes on while it lasts and is stopped by its own duration.
	read := &rawgen.FetchOptions{Addr: i.Addr, Topic: topic, Partitions: 6, Consumers: 3, Split: true, PartitionMaxBytes: 4 << 20, Bytes: backlog, BatchLen: b.BatchLen(), BatchRecords: b.Records, RecordSize: 1024, WatchPID: i.PID}
	load := paced(i, topic, 6, 100e6, c.Sizes.OpenSeconds)
	load.Window = time.Second
	during, drain, err := c.both(x, "during", Job{Produce: load}, "drain", Job{Fetch: read})
	if err != nil {
		return err
	}
	x.Values["drain MB/s"] = float64(drain.PayloadBytes) / 1e6 / drain.Seconds
	x.Values["drain s"] = drain.Seconds
	x.Values["produce MB/s during"] = float64(during.PayloadBytes) / 1e6 / during.Seconds
	if drain.Broker != nil {
		x.Values["CPU cores during"] = drain.Broker.CPUSeconds / drain.Seconds
	}
	if before.Latency == nil || during.Latency == nil {
		return errors.New("nothing was acknowledged")
	}
	// Only the seconds in which the drain ran: it may end before the producer does.
	worst := 0.0
	var seconds []*rawgen.Dist
	for _, w := range during.Windows {
		if float64(w.Second) < drain.Seconds {
			seconds = append(seconds, w.Latency)
			worst = max(worst, w.Latency.P99)
		}
	}
	drained, err := rawgen.JoinDists(seconds...)
	if err != nil || drained == nil {
		return errors.Join(errors.New("nothing was acknowledged while the backlog was drained"), err)
	}
	x.Values["p99 us before"] = before.Latency.P99
	x.Values["p99 us during"], x.Values["max us during"] = drained.P99, drained.Max
	x.Values["worst second's p99 us during"] = worst
	x.Values["p99 during/before"] = drained.P99 / before.Latency.P99
	if drain.Broker != nil {
		x.Values["CPU s/GB drained and produced"] = drain.Broker.CPUSeconds / (float64(drain.PayloadBytes)/1e9 + drain.Seconds*float64(during.PayloadBytes)/1e9/during.Seconds)
	}
	if during.Seconds < drain.Seconds {
		x.Notes = append(x.Notes, fmt.Sprintf("the drain took %.1f s, longer than the %.1f s of producing", drain.Seconds, during.Seconds))
	}
	return nil
}

// cool drops the log files below a directory from the page cache; it returns their bytes, and how many of them stayed. They must
// have been synced.
func cool(dir string) (sum, left int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
				return nil
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(path, ".log") {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil // deleted meanwhile
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		sum += st.Size()
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return err
		}
		var cs unix.Cachestat_t
		if unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{Len: uint64(st.Size())}, &cs, 0) == nil { // Linux 6.5
			left += min(int64(cs.Cache)*int64(os.Getpagesize()), st.Size())
		}
		return nil
	})
	return sum, left, err
}
