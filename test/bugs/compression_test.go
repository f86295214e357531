package bugs

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/IBM/sarama"
	ckafka "github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// textBatch is a batch of compressible records in a codec.
func textBatch(codec int) *harness.Batch {
	b := harness.NewBatch()
	b.Codec = codec
	for i := range 50 {
		b.Records = append(b.Records, harness.Record{Timestamp: now(), Value: fmt.Appendf(nil, "line %d of a text that packs well, that packs well, that packs well", i)})
	}
	return b
}

// TestBrokerSideCompression (B83): each topic codec over each producer codec is stored in the topic's codec, snappy in the frame that Java
// clients need, and four clients read it back; compression.type=producer leaves the bytes alone.
func TestBrokerSideCompression(t *testing.T) {
	c := dial(t)
	for want := 1; want < len(harness.Codecs); want++ {
		t.Run(harness.Codecs[want], func(t *testing.T) {
			name := topic(t, "b83-"+harness.Codecs[want], 1, "compression.type", harness.Codecs[want])
			for sent := range harness.Codecs {
				harness.MustProduce(t, c, name, 0, textBatch(sent).Bytes())
			}
			p := do[*kmsg.FetchResponse](t, c, harness.Fetch(500, 1, 1<<20, harness.FetchFrom{Topic: name})).Topics[0].Partitions[0]
			for i, h := range harness.Heads(p.RecordBatches) {
				if int(h.Attributes&7) != want {
					t.Errorf("batch sent as %s is stored with codec %d", harness.Codecs[i], h.Attributes&7)
				}
				xerial := []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}
				if want == 2 && i != 2 && !bytes.HasPrefix(h.Data[61:], xerial) { // what came in snappy may keep its bytes
					t.Errorf("snappy written by the broker begins with %x, want %x", h.Data[61:77], xerial)
				}
			}
			readEverywhere(t, name, 50*len(harness.Codecs))
		})
	}
	t.Run("producer", func(t *testing.T) {
		name := topic(t, "b83-producer", 1, "compression.type", "producer")
		for sent := range harness.Codecs {
			batch := textBatch(sent).Bytes()
			offset := harness.MustProduce(t, c, name, 0, batch)
			p := do[*kmsg.FetchResponse](t, c, harness.Fetch(500, 1, 1<<20, harness.FetchFrom{Topic: name, Offset: offset})).Topics[0].Partitions[0]
			if heads := harness.Heads(p.RecordBatches); len(heads) != 1 || !bytes.Equal(heads[0].Data[16:], batch[16:]) {
				t.Errorf("batch in %s did not keep its bytes", harness.Codecs[sent])
			}
		}
		readEverywhere(t, name, 50*len(harness.Codecs))
	})
	t.Run("uncompressed", func(t *testing.T) {
		name := topic(t, "b83-plain", 1, "compression.type", "uncompressed")
		for sent := range harness.Codecs {
			harness.MustProduce(t, c, name, 0, textBatch(sent).Bytes())
		}
		p := do[*kmsg.FetchResponse](t, c, harness.Fetch(500, 1, 1<<20, harness.FetchFrom{Topic: name})).Topics[0].Partitions[0]
		for i, h := range harness.Heads(p.RecordBatches) {
			if h.Attributes&7 != 0 {
				t.Errorf("batch sent as %s is stored with codec %d", harness.Codecs[i], h.Attributes&7)
			}
		}
		readEverywhere(t, name, 50*len(harness.Codecs))
	})
}

// readEverywhere reads n records of a topic with four clients.
func readEverywhere(t *testing.T, name string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	readers := map[string]func() (string, error){
		"franz-go":   franzReader(ctx, name),
		"sarama":     saramaReader(ctx, name),
		"kafka-go":   kafkaGoReader(ctx, name),
		"librdkafka": librdkafkaReader(ctx, name),
	}
	for client, open := range readers {
		if err := expectLines(n, open); err != nil {
			t.Errorf("%s: %v", client, err)
		}
	}
}

// expectLines calls next n times; the values must be those of textBatch over and over.
func expectLines(n int, next func() (string, error)) error {
	for i := range n {
		got, err := next()
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		if want := string(textBatch(0).Records[i%50].Value); got != want {
			return fmt.Errorf("record %d is %q, want %q", i, got, want)
		}
	}
	return nil
}

func franzReader(ctx context.Context, name string) func() (string, error) {
	var cl *kgo.Client
	var left []*kgo.Record
	return func() (string, error) {
		if cl == nil {
			var err error
			if cl, err = kgo.NewClient(kgo.SeedBrokers(target.Addr), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{name: {0: kgo.NewOffset().At(0)}})); err != nil {
				return "", err
			}
			context.AfterFunc(ctx, cl.Close)
		}
		for len(left) == 0 {
			f := cl.PollFetches(ctx)
			if err := f.Err(); err != nil {
				return "", err
			}
			left = f.Records()
		}
		v := string(left[0].Value)
		left = left[1:]
		return v, nil
	}
}

func saramaReader(ctx context.Context, name string) func() (string, error) {
	var pc sarama.PartitionConsumer
	return func() (string, error) {
		if pc == nil {
			consumer, err := sarama.NewConsumer([]string{target.Addr}, sarama.NewConfig())
			if err != nil {
				return "", err
			}
			if pc, err = consumer.ConsumePartition(name, 0, 0); err != nil {
				return "", err
			}
			context.AfterFunc(ctx, func() { pc.Close(); consumer.Close() })
		}
		select {
		case m := <-pc.Messages():
			if m == nil {
				return "", fmt.Errorf("message channel closed")
			}
			return string(m.Value), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func kafkaGoReader(ctx context.Context, name string) func() (string, error) {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{target.Addr}, Topic: name, MaxWait: 100 * time.Millisecond})
	context.AfterFunc(ctx, func() { r.Close() })
	return func() (string, error) {
		m, err := r.ReadMessage(ctx)
		return string(m.Value), err
	}
}

func librdkafkaReader(ctx context.Context, name string) func() (string, error) {
	var c *ckafka.Consumer
	return func() (string, error) {
		if c == nil {
			var err error
			if c, err = ckafka.NewConsumer(&ckafka.ConfigMap{"bootstrap.servers": target.Addr, "group.id": "unused", "enable.auto.commit": false, "check.crcs": true}); err != nil {
				return "", err
			}
			context.AfterFunc(ctx, func() { c.Close() })
			if err := c.Assign([]ckafka.TopicPartition{{Topic: &name, Partition: 0, Offset: 0}}); err != nil {
				return "", err
			}
		}
		m, err := c.ReadMessage(10 * time.Second)
		if err != nil {
			return "", err
		}
		return string(m.Value), nil
	}
}
