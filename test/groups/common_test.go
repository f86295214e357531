package groups

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

var target harness.Target

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, &target, "group.initial.rebalance.delay.ms=100",
		"group.consumer.min.session.timeout.ms=1000", "group.consumer.session.timeout.ms=6000",
		"group.consumer.min.heartbeat.interval.ms=100", "group.consumer.heartbeat.interval.ms=500"))
}

// number reads a size from the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func newClient(t testing.TB, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addr)}, opts...)...)
	if err != nil {
		panic(err) // wrong options
	}
	t.Cleanup(cl.Close)
	return cl
}

// fill writes n records, numbered, over the topic's partitions in turn.
func fill(t testing.TB, addr, topic string, partitions, from, n int) {
	t.Helper()
	cl := newClient(t, addr, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for i := from; i < from+n; i++ {
		cl.Produce(context.Background(), &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: []byte(strconv.Itoa(i))}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := cl.Flush(ctx); err != nil {
		t.Error(err)
	}
}

// committed are the committed offsets of a group in a topic, -1 where there is none.
func committed(c *harness.Conn, group, topic string, partitions int) ([]int64, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version, req.Group, req.RequireStable = 7, group, true
	rt := kmsg.NewOffsetFetchRequestTopic()
	rt.Topic = topic
	for p := range partitions {
		rt.Partitions = append(rt.Partitions, int32(p))
	}
	req.Topics = append(req.Topics, rt)
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	r := resp.(*kmsg.OffsetFetchResponse)
	if r.ErrorCode != 0 {
		return nil, fmt.Errorf("offset fetch: error %d", r.ErrorCode)
	}
	out := make([]int64, partitions)
	for _, p := range r.Topics[0].Partitions {
		if p.ErrorCode != 0 {
			return nil, fmt.Errorf("offset fetch of partition %d: error %d", p.Partition, p.ErrorCode)
		}
		out[p.Partition] = p.Offset
	}
	return out, nil
}

// commit commits one offset in each partition, as nobody in particular.
func commit(c *harness.Conn, group, topic string, offsets []int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.Generation = 7, group, -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	for p, o := range offsets {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = int32(p), o
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	for _, p := range resp.(*kmsg.OffsetCommitResponse).Topics[0].Partitions {
		if p.ErrorCode != 0 {
			return fmt.Errorf("commit of partition %d: error %d", p.Partition, p.ErrorCode)
		}
	}
	return nil
}

// coordinator waits until the group has a coordinator that answers.
func coordinator(t testing.TB, addr, group, topic string, partitions int) *harness.Conn {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		c, err := harness.Dial(addr)
		if err == nil {
			find := kmsg.NewPtrFindCoordinatorRequest()
			find.Version, find.CoordinatorKey = 3, group
			if _, err = c.Do(find); err == nil {
				if _, err = committed(c, group, topic, partitions); err == nil {
					return c
				}
			}
			c.Close()
		}
		if time.Now().After(deadline) {
			t.Fatalf("no coordinator for %s: %v", group, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// consoleTool is Kafka's console consumer, with or without the .sh that the distribution gives it.
func consoleTool() string {
	path := filepath.Join(os.Getenv("KAFKA_HOME_BIN"), "kafka-console-consumer")
	if _, err := os.Stat(path); err != nil {
		return path + ".sh"
	}
	return path
}

func interrupt(cmd *exec.Cmd) { _ = cmd.Process.Signal(os.Interrupt) }
