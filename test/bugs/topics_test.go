package bugs

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	ckafka "github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestProduceToTopicsThatDoNotExist (B49): several clients write to new topics; the topics appear and no record is lost.
func TestProduceToTopicsThatDoNotExist(t *testing.T) {
	clients := map[string]func(name string) error{
		"kafka-go": func(name string) error {
			transport := &kafka.Transport{}
			defer transport.CloseIdleConnections()
			w := &kafka.Writer{Addr: kafka.TCP(target.Addr), Topic: name, AllowAutoTopicCreation: true, BatchTimeout: time.Millisecond, Transport: transport, RequiredAcks: kafka.RequireAll}
			defer w.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var err error
			for ctx.Err() == nil { // the writer leaves this retry to its caller
				if err = w.WriteMessages(ctx, kafka.Message{Value: []byte("v")}); err == nil {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			return err
		},
		"sarama": func(name string) error {
			cfg := sarama.NewConfig()
			cfg.Producer.Return.Successes = true
			p, err := sarama.NewSyncProducer([]string{target.Addr}, cfg)
			if err != nil {
				return err
			}
			defer p.Close()
			_, _, err = p.SendMessage(&sarama.ProducerMessage{Topic: name, Value: sarama.StringEncoder("v")})
			return err
		},
		"librdkafka": func(name string) error {
			p, err := ckafka.NewProducer(&ckafka.ConfigMap{"bootstrap.servers": target.Addr, "enable.idempotence": true})
			if err != nil {
				return err
			}
			defer p.Close()
			report := make(chan ckafka.Event, 1)
			if err := p.Produce(&ckafka.Message{TopicPartition: ckafka.TopicPartition{Topic: &name, Partition: ckafka.PartitionAny}, Value: []byte("v")}, report); err != nil {
				return err
			}
			select {
			case e := <-report:
				return e.(*ckafka.Message).TopicPartition.Error
			case <-time.After(20 * time.Second):
				return fmt.Errorf("no delivery report in 20 s")
			}
		},
	}
	for client, produce := range clients {
		t.Run(client, func(t *testing.T) {
			name := harness.Name("b49-" + client)
			if err := produce(name); err != nil {
				t.Fatal(err)
			}
			if end, code, err := harness.EndOffset(target.Addr, name, 0, -1); err != nil || code != 0 || end != 1 {
				t.Errorf("log of %s ends at %d (error %d, %v), want 1", name, end, code, err)
			}
			harness.DeleteTopic(t, target.Addr, name)
		})
	}
}

// TestProduceAtOnceInReverseOrder (B49): twenty topics are created and written at once in reverse order; at most retriable errors come.
func TestProduceAtOnceInReverseOrder(t *testing.T) {
	var names []string
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 30000
	for range 20 {
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = harness.Name("b49-reverse"), 2, 1
		names, req.Topics = append(names, rt.Topic), append(req.Topics, rt)
	}
	c := dial(t)
	for _, r := range do[*kmsg.CreateTopicsResponse](t, c, req).Topics {
		if r.ErrorCode != 0 {
			t.Fatalf("creating %s: error %d", r.Topic, r.ErrorCode)
		}
	}
	for i := len(names) - 1; i >= 0; i-- {
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			p, err := harness.ProduceOne(c, names[i], 1, one(now(), "v"))
			if err != nil {
				t.Fatal(err)
			}
			if p.ErrorCode == 0 {
				break
			}
			if p.ErrorCode != 3 && p.ErrorCode != 5 && p.ErrorCode != 6 || time.Now().After(deadline) {
				t.Fatalf("producing to %s: error %d", names[i], p.ErrorCode)
			}
		}
	}
	for _, name := range names {
		harness.DeleteTopic(t, target.Addr, name)
	}
}

// TestHundredsOfTopicsAtOnce (B53): 300 topics in one request and 100 requests side by side; all appear once, all can be deleted.
func TestHundredsOfTopicsAtOnce(t *testing.T) {
	prefix := harness.Name("b53")
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 60000
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.Version, del.TimeoutMillis = 5, 60000
	for i := range 300 {
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = fmt.Sprintf("%s-%d", prefix, i), 1, 1
		req.Topics = append(req.Topics, rt)
		del.TopicNames = append(del.TopicNames, rt.Topic)
	}
	c := dial(t)
	c.Timeout = time.Minute
	for _, r := range do[*kmsg.CreateTopicsResponse](t, c, req).Topics {
		if r.ErrorCode != 0 && r.ErrorCode != 7 {
			t.Fatalf("creating %s: error %d", r.Topic, r.ErrorCode)
		}
	}
	var wg sync.WaitGroup
	for i := range 100 {
		name := fmt.Sprintf("%s-single-%d", prefix, i)
		del.TopicNames = append(del.TopicNames, name)
		wg.Go(func() {
			if err := harness.TryCreateTopic(target.Addr, name, 1); err != nil {
				t.Errorf("creating %s: %v", name, err)
			}
		})
	}
	wg.Wait()
	meta := kmsg.NewPtrMetadataRequest()
	meta.Version = 9
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		seen := map[string]int{}
		for _, rt := range do[*kmsg.MetadataResponse](t, c, meta).Topics {
			seen[*rt.Topic]++
		}
		missing, doubled := 0, 0
		for _, name := range del.TopicNames {
			if seen[name] == 0 {
				missing++
			} else if seen[name] > 1 {
				doubled++
			}
		}
		if missing+doubled == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d topics missing, %d listed twice", missing, doubled)
		}
	}
	for _, r := range do[*kmsg.DeleteTopicsResponse](t, c, del).Topics {
		if r.ErrorCode != 0 {
			t.Errorf("deleting %s: error %d", *r.Topic, r.ErrorCode)
		}
	}
}
