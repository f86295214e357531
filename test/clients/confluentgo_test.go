package clients

import (
	"fmt"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// confluentGo is confluent-kafka-go, that is librdkafka: idempotent producer, consumer with assigned partitions.
var confluentGo = client{name: "confluent-kafka-go", librdkafka: true, produce: confluentProduce, consume: confluentConsume}

func confluentProduce(j *job) error {
	p, err := kafka.NewProducer(&kafka.ConfigMap{"bootstrap.servers": j.addr, "compression.type": j.codec, "acks": "all",
		"enable.idempotence": true, "linger.ms": 5, "go.delivery.reports": true})
	if err != nil {
		return err
	}
	defer p.Close()
	result := make(chan error, 1)
	go func() {
		var first error
		left := len(j.records)
		for e := range p.Events() {
			switch m := e.(type) {
			case *kafka.Message:
				if m.TopicPartition.Error != nil && first == nil {
					first = m.TopicPartition.Error
				}
				if left--; left == 0 {
					result <- first
					return
				}
			case kafka.Error:
				if m.IsFatal() {
					result <- m
					return
				}
			}
		}
	}()
	for _, r := range j.records {
		m := &kafka.Message{TopicPartition: kafka.TopicPartition{Topic: &j.topic, Partition: int32(partitionOf(r.key, j.partitions))}, Key: r.key, Value: r.value}
		for _, h := range r.headers {
			m.Headers = append(m.Headers, kafka.Header{Key: h.key, Value: h.value})
		}
		for {
			err := p.Produce(m, nil)
			if err == nil {
				break
			}
			if ke, ok := err.(kafka.Error); !ok || ke.Code() != kafka.ErrQueueFull {
				return err
			}
			p.Flush(50)
		}
	}
	select {
	case err := <-result:
		return err
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
}

func confluentConsume(j *job, out *reading) error {
	c, err := kafka.NewConsumer(&kafka.ConfigMap{"bootstrap.servers": j.addr, "group.id": "unused", "enable.auto.commit": false, "check.crcs": true})
	if err != nil {
		return err
	}
	defer c.Close()
	var parts []kafka.TopicPartition
	for p := range j.partitions {
		parts = append(parts, kafka.TopicPartition{Topic: &j.topic, Partition: int32(p), Offset: 0})
	}
	if err := c.Assign(parts); err != nil {
		return err
	}
	for !out.done(j.end) {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		switch m := c.Poll(500).(type) {
		case *kafka.Message:
			if m.TopicPartition.Error != nil {
				return m.TopicPartition.Error
			}
			headers := make([]header, 0, len(m.Headers))
			for _, h := range m.Headers {
				headers = append(headers, header{h.Key, h.Value})
			}
			out.add(int(m.TopicPartition.Partition), int64(m.TopicPartition.Offset), m.Key, m.Value, headers)
		case kafka.Error:
			if m.IsFatal() {
				return fmt.Errorf("fatal: %w", m)
			}
		}
	}
	return out.err
}
