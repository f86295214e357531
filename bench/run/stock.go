package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"millrace/bench/proc"
	"millrace/bench/target"
)

// stock runs Kafka's own producer and consumer perf tools, all properties named because defaults changed between versions.
func (c *campaign) stock(_ context.Context, i *target.Instance, x *Extra) error {
	if c.KafkaTools == "" {
		return errors.New("STOCK needs --kafka-tools DIRECTORY")
	}
	if i.Target.Kind == target.Floor {
		return nil
	}
	topic, err := c.topic(i, nil, 6)
	if err != nil {
		return err
	}
	defer func() { _ = target.DeleteTopic(i.Addr, topic) }()
	for _, shape := range []struct {
		name  string
		size  int64
		batch int
	}{{"1 KiB", 1024, 65536}, {"100 B", 100, 8196}} {
		records := max(1000, c.Sizes.Stock/shape.size/(1024/min(shape.size, 1024))) // fewer bytes of small records: they take longer
		out, cost, err := c.tool(i, "kafka-producer-perf-test", "--topic", topic, "--num-records", strconv.FormatInt(records, 10), "--record-size", strconv.FormatInt(shape.size, 10), "--throughput", "-1",
			"--producer-props", "bootstrap.servers="+i.Addr, "acks=1", fmt.Sprintf("batch.size=%d", shape.batch), "linger.ms=5", "buffer.memory=67108864", "compression.type=none", "enable.idempotence=false")
		if err != nil {
			return err
		}
		v, err := parseProducerPerf(out)
		if err != nil {
			return err
		}
		for k, f := range v {
			x.Values["producer, "+shape.name+": "+k] = f
		}
		x.Values["producer, "+shape.name+": CPU s/GB"] = cost.CPUSeconds / (float64(records*shape.size) / 1e9)
		if shape.size != 1024 {
			continue
		}
		out, cost, err = c.tool(i, "kafka-consumer-perf-test", "--bootstrap-server", i.Addr, "--topic", topic, "--num-records", strconv.FormatInt(records, 10), "--group", topic, "--timeout", "60000", "--hide-header")
		if err != nil {
			return err
		}
		if v, err = parseConsumerPerf(out); err != nil {
			return err
		}
		for k, f := range v {
			x.Values["consumer: "+k] = f
		}
		x.Values["consumer: CPU s/GB"] = cost.CPUSeconds / (float64(records*shape.size) / 1e9)
	}
	return nil
}

// tool runs one of Kafka's tools where the generator runs, and says what it cost the broker.
func (c *campaign) tool(i *target.Instance, name string, args ...string) (string, proc.Delta, error) {
	before, err := usage(i)
	if err != nil {
		return "", proc.Delta{}, err
	}
	var stderr strings.Builder
	program := filepath.Join(c.KafkaTools, name)
	if _, err := os.Stat(program); err != nil {
		program += ".sh" // as in Apache's own archive
	}
	out, err := proc.Run(c.pass.GenCPUs, &stderr, program, args...)
	if err != nil {
		return "", proc.Delta{}, fmt.Errorf("%s: %w: %s", name, err, stderr.String())
	}
	after, err := usage(i)
	return string(out), after.Since(before), err
}

var producerPerf = regexp.MustCompile(`(\d+) records sent, ([\d.]+) records/sec \(([\d.]+) MB/sec\), ([\d.]+) ms avg latency, ([\d.]+) ms max latency, (\d+) ms 50th, (\d+) ms 95th, (\d+) ms 99th, (\d+) ms 99.9th`)

// parseProducerPerf reads the last line of kafka-producer-perf-test. Its MB are MiB.
func parseProducerPerf(out string) (map[string]float64, error) {
	all := producerPerf.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return nil, fmt.Errorf("kafka-producer-perf-test said: %s", out)
	}
	m := all[len(all)-1]
	f := func(k int) float64 { v, _ := strconv.ParseFloat(m[k], 64); return v }
	return map[string]float64{"rec/s": f(2), "MB/s": f(3) * 1.048576, "p50 ms": f(6), "p99 ms": f(8)}, nil
}

// parseConsumerPerf reads the line of kafka-consumer-perf-test. Time to join the group is not the broker's throughput: the fetch
// columns leave it out.
func parseConsumerPerf(out string) (map[string]float64, error) {
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) < 10 {
			continue
		}
		v := make([]float64, len(f))
		ok := true
		for k := 2; k < len(f); k++ {
			var err error
			v[k], err = strconv.ParseFloat(strings.TrimSpace(f[k]), 64)
			ok = ok && err == nil
		}
		if ok {
			return map[string]float64{"MB/s": v[8] * 1.048576, "rec/s": v[9], "rebalance ms": v[6]}, nil
		}
	}
	return nil, fmt.Errorf("kafka-consumer-perf-test said: %s", out)
}

// nats measures NATS JetStream with its own tool, on a server of our own: what it sends is not Kafka's protocol, so no generator
// of ours fits. Only its start is timed as the others' are in W9. Each round has the server's default durability and one where every message is synced.
func (c *campaign) nats(ctx context.Context) error {
	for round := 1; round <= c.Rounds; round++ {
		for _, class := range []string{PageCache, Synced} {
			if err := ctx.Err(); err != nil {
				return err
			}
			x := Extra{Workload: "NATS", Target: "nats, " + class, Pass: c.pass.Name, Round: round, Class: class, Started: time.Now(), Values: map[string]float64{}}
			if err := c.natsOnce(class, &x); err != nil {
				x.Error = err.Error()
			}
			c.note(x)
			c.settle()
			if err := c.report.Save(c.JSON); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *campaign) natsOnce(class string, x *Extra) (err error) {
	dir := filepath.Join(c.Dir, "nats")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	addr := fmt.Sprintf("127.0.0.1:%d", c.Port+2)
	sync := ""
	if class == Synced {
		sync = "sync_interval: always"
	}
	conf := filepath.Join(dir, "server.conf")
	text := fmt.Sprintf("listen: %q\nmax_payload: 8MB\njetstream {\n store_dir: %q\n max_file_store: 100GB\n %s\n}\n", addr, filepath.Join(dir, "js"), sync)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	began := time.Now()
	server, err := proc.Start(c.pass.BrokerCPUs, log, c.NATSServer, "-c", conf)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := server.Stop(30 * time.Second)
		err = errors.Join(err, stopErr)
	}()
	start := Start{Target: x.Target, Pass: x.Pass, Kind: "empty", Round: x.Round}
	if err := natsStart(addr, began, &start); err != nil {
		return err
	}
	if err := start.watched(server.PID()); err != nil {
		return err
	}
	c.noteStart(start)
	bytes := c.Sizes.Stock
	type shape struct {
		name string
		size int64
		n    int64
		args []string
	}
	shapes := []shape{
		{"W1 like, async 1 KiB", 1024, bytes / 1024 / 4, []string{"js", "pub", "async", "bench.one", "--create", "--storage", "file", "--maxbytes", "100GB", "--batch", "1000"}},
		{"W3 like, consume", 1024, bytes / 1024 / 4, []string{"js", "consume", "--batch", "1000", "--acks", "none"}},
		{"W2 like, async 100 B", 100, bytes / 1024 / 4, []string{"js", "pub", "async", "bench.one", "--purge", "--batch", "1000"}},
		{"W5 like, sync 100 B", 100, max(100, bytes>>17), []string{"js", "pub", "sync", "bench.one"}},
	}
	if class == Synced {
		shapes = []shape{
			{"W6 like, sync 1 KiB, 1 client", 1024, max(100, bytes>>20), []string{"js", "pub", "sync", "bench.one", "--create", "--storage", "file", "--maxbytes", "100GB"}},
			{"W6 like, sync 1 KiB, 64 clients", 1024, max(640, bytes>>18), []string{"js", "pub", "sync", "bench.one", "--clients", "64"}},
		}
	}
	for _, s := range shapes {
		before, err := proc.Read(server.PID())
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "out.csv")
		var said strings.Builder
		args := append([]string{"--no-context", "-s", "nats://" + addr, "bench"}, s.args...)
		args = append(args, "--size", strconv.FormatInt(s.size, 10), "--msgs", strconv.FormatInt(s.n, 10), "--no-progress", "--csv", file)
		began := time.Now()
		if _, err := proc.Run(c.pass.GenCPUs, &said, c.NATSTool, args...); err != nil {
			return fmt.Errorf("%s: %w: %s", s.name, err, said.String())
		}
		seconds := time.Since(began).Seconds()
		after, err := proc.Read(server.PID())
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		v, err := parseNATS(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		_ = os.Remove(file)
		for k, f := range v {
			x.Values[s.name+": "+k] = f
		}
		d := after.Since(before)
		x.Values[s.name+": CPU s/GB"] = d.CPUSeconds / (float64(s.n*s.size) / 1e9)
		x.Values[s.name+": cores"] = d.CPUSeconds / seconds
		x.Values["RSS MB"] = max(x.Values["RSS MB"], float64(d.RSSPeakBytes)/1e6)
	}
	return nil
}

// parseNATS reads the CSV of nats bench: one line per client; rates add up, latencies are those of the worst client.
func parseNATS(text string) (map[string]float64, error) {
	v := map[string]float64{}
	var columns []string
	rows := 0
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if strings.HasPrefix(line, "#") {
			columns = f
			continue
		}
		if len(f) != len(columns) {
			continue
		}
		rows++
		for k, name := range columns {
			n, err := strconv.ParseFloat(f[k], 64)
			if err != nil {
				continue
			}
			switch name {
			case "MsgsPerSec":
				v["rec/s"] += n
			case "BytesPerSec":
				v["MB/s"] += n / 1e6
			case "P50LatencyMicroSecs":
				v["p50 us"] = max(v["p50 us"], n)
			case "P99LatencyMicroSecs":
				v["p99 us"] = max(v["p99 us"], n)
			}
		}
	}
	if rows == 0 {
		return nil, fmt.Errorf("nats bench wrote: %s", text)
	}
	return v, nil
}
