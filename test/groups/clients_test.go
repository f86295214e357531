package groups

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	confluent "github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/test/harness"
)

// member is one member of a group in some client: it tells seen the value of every record, commits, and leaves when ctx ends.
type member func(ctx context.Context, addr, group, topic string, seen func(value string)) error

var libraries = map[string]member{"franz-go": franzMemberOf(), "sarama": saramaMember, "kafka-go": kafkaGoMember, "confluent": confluentMemberOf(&confluent.ConfigMap{"heartbeat.interval.ms": 200, "session.timeout.ms": 6000}),
	"kcat": kcatMember, "console": consoleMemberOf("--command-property", "heartbeat.interval.ms=200"),
	"franz-go-848": franzMemberOf(kgo.ServerSideBalancer()), "confluent-848": confluentMemberOf(&confluent.ConfigMap{"group.protocol": "consumer"}),
	"console-848": consoleMemberOf("--command-property", "group.protocol=consumer"), "aiokafka": aiokafkaMember, "kafkajs": kafkajsMember}

// TestLibrariesShareATopic runs members of each library in a group of their own, with the classic protocol or that of KIP-848. Two
// share the topic; while more is written a third joins and the first leaves. Together they read every record and commit; when all
// have left, the committed offsets stand at the end.
func TestLibrariesShareATopic(t *testing.T) {
	for name, m := range libraries {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "kcat":
				harness.Program(t, "kcat", "test/install.sh does it")
			case "console", "console-848":
				harness.KafkaTool(t, "kafka-console-consumer")
			case "aiokafka":
				needed(t, harness.NeedPython("aiokafka"))
			case "kafkajs":
				needed(t, harness.NeedNode("kafkajs"))
			}
			t.Parallel()
			share(t, m)
		})
	}
}

func share(t *testing.T, m member) {
	const partitions, total = 4, 2000
	topic, group := harness.Name("share"), harness.Name("group")
	harness.CreateTopic(t, target.Addr, topic, partitions)
	fill(t, target.Addr, topic, partitions, 0, total/2)
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	var mu sync.Mutex
	read := map[string]int{}
	half, all := make(chan struct{}), make(chan struct{})
	seen := func(value string) {
		mu.Lock()
		defer mu.Unlock()
		if read[value]++; read[value] > 1 {
			return
		}
		switch len(read) {
		case total / 2:
			close(half)
		case total:
			close(all)
		}
	}
	var wait sync.WaitGroup
	start := func() (leave func()) {
		member, leave := context.WithCancel(ctx)
		wait.Go(func() {
			if err := m(member, target.Addr, group, topic, seen); err != nil && member.Err() == nil {
				t.Errorf("member: %v", err)
			}
		})
		return leave
	}
	first, second := start(), start()
	third := func() {}
	select {
	case <-half:
		third = start()
		for from := total / 2; from < total; from += 100 {
			fill(t, target.Addr, topic, partitions, from, 100)
			time.Sleep(50 * time.Millisecond)
		}
		first()
	case <-ctx.Done():
	}
	select {
	case <-all:
		time.Sleep(500 * time.Millisecond) // for the commits of clients that make them now and then
	case <-ctx.Done():
		mu.Lock()
		t.Errorf("%d of %d records were read", len(read), total)
		mu.Unlock()
	}
	first()
	second()
	third()
	wait.Wait()
	twice := 0
	for _, n := range read {
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d of %d records were read again after a change", twice, total)
	conn := coordinator(t, target.Addr, group, topic, partitions)
	defer conn.Close()
	got, err := committed(conn, group, topic, partitions)
	if err != nil {
		t.Fatal(err)
	}
	for p, o := range got {
		if o != total/partitions {
			t.Errorf("partition %d: committed %d, want %d", p, o, total/partitions)
		}
	}
}

func franzMemberOf(opts ...kgo.Opt) member {
	return func(ctx context.Context, addr, group, topic string, seen func(string)) error {
		cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addr), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, opts...)...)
		if err != nil {
			return err
		}
		defer cl.Close()
		for ctx.Err() == nil {
			cl.PollFetches(ctx).EachRecord(func(r *kgo.Record) { seen(string(r.Value)) })
		}
		return cl.CommitUncommittedOffsets(context.Background())
	}
}

type saramaHandler struct{ seen func(string) }

func (saramaHandler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (saramaHandler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h saramaHandler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for m := range c.Messages() {
		h.seen(string(m.Value))
		s.MarkMessage(m, "")
	}
	return nil
}

func saramaMember(ctx context.Context, addr, group, topic string, seen func(string)) error {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V3_6_0_0
	cfg.Consumer.Offsets.Initial = sarama.OffsetOldest
	cfg.Consumer.Group.Session.Timeout = 6 * time.Second
	cfg.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	cfg.Consumer.MaxWaitTime = 100 * time.Millisecond
	cg, err := sarama.NewConsumerGroup([]string{addr}, group, cfg)
	if err != nil {
		return err
	}
	defer cg.Close()
	for ctx.Err() == nil {
		if err := cg.Consume(ctx, []string{topic}, saramaHandler{seen}); err != nil {
			return err
		}
	}
	return nil
}

func kafkaGoMember(ctx context.Context, addr, group, topic string, seen func(string)) error {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{addr}, GroupID: group, Topic: topic, MinBytes: 1, MaxBytes: 10 << 20, MaxWait: 100 * time.Millisecond,
		StartOffset: kafka.FirstOffset, HeartbeatInterval: 200 * time.Millisecond, CommitInterval: 100 * time.Millisecond})
	defer r.Close()
	for {
		m, err := r.ReadMessage(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) || ctx.Err() != nil {
				return nil
			}
			return err
		}
		seen(string(m.Value))
	}
}

func confluentMemberOf(more *confluent.ConfigMap) member {
	return func(ctx context.Context, addr, group, topic string, seen func(string)) error {
		cfg := confluent.ConfigMap{"bootstrap.servers": addr, "group.id": group, "auto.offset.reset": "earliest", "auto.commit.interval.ms": 100}
		for k, v := range *more {
			cfg[k] = v
		}
		c, err := confluent.NewConsumer(&cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.Subscribe(topic, nil); err != nil {
			return err
		}
		for ctx.Err() == nil {
			switch e := c.Poll(100).(type) {
			case *confluent.Message:
				seen(string(e.Value))
			case confluent.Error:
				if e.IsFatal() {
					return e
				}
			}
		}
		return nil
	}
}

func kcatMember(ctx context.Context, addr, group, topic string, seen func(string)) error {
	return lines(ctx, seen, exec.Command("kcat", "-G", group, "-b", addr, "-u", "-q", "-X", "auto.offset.reset=earliest", "-X", "auto.commit.interval.ms=100",
		"-X", "heartbeat.interval.ms=200", topic))
}

func consoleMemberOf(args ...string) member {
	return func(ctx context.Context, addr, group, topic string, seen func(string)) error {
		args := append([]string{"--bootstrap-server", addr, "--topic", topic, "--group", group, "--from-beginning",
			"--command-property", "auto.commit.interval.ms=100"}, args...)
		return lines(ctx, seen, exec.Command(consoleTool(), args...))
	}
}

func aiokafkaMember(ctx context.Context, addr, group, topic string, seen func(string)) error {
	return lines(ctx, seen, exec.Command(harness.Python(), "scripts/aiokafka_member.py", addr, group, topic))
}

func kafkajsMember(ctx context.Context, addr, group, topic string, seen func(string)) error {
	return lines(ctx, seen, harness.Node(context.WithoutCancel(ctx), "scripts/kafkajs_member.js", addr, group, topic))
}

func needed(t *testing.T, why string) {
	t.Helper()
	if why != "" {
		harness.Missing(t, "%s", why)
	}
}

// lines runs a program that prints one record a line, and ends it in good order with ctx.
func lines(ctx context.Context, seen func(string), cmd *exec.Cmd) error {
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stopped := context.AfterFunc(ctx, func() { interrupt(cmd) })
	defer stopped()
	for s := bufio.NewScanner(out); s.Scan(); {
		seen(s.Text())
	}
	if err := cmd.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w: %.2000s", cmd.Path, err, complaints.String())
	}
	return nil
}
