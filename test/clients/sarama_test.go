package clients

import (
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

// saramaClient is github.com/IBM/sarama: its asynchronous producer with acks=all, and its partition consumer.
var saramaClient = client{name: "sarama", produce: saramaProduce, consume: saramaConsume}

var saramaCodecs = map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}

func saramaProduce(j *job) error {
	cfg := sarama.NewConfig()
	cfg.Producer.Partitioner = sarama.NewManualPartitioner
	cfg.Producer.Compression = saramaCodecs[j.codec]
	cfg.Producer.RequiredAcks = sarama.WaitForAll
	cfg.Producer.Idempotent = true
	cfg.Net.MaxOpenRequests = 1
	cfg.Producer.Flush.Frequency = 5 * time.Millisecond
	producer, err := sarama.NewAsyncProducer([]string{j.addr}, cfg)
	if err != nil {
		return err
	}
	go func() {
		for _, r := range j.records {
			m := &sarama.ProducerMessage{Topic: j.topic, Partition: int32(partitionOf(r.key, j.partitions)),
				Key: sarama.ByteEncoder(r.key), Value: sarama.ByteEncoder(r.value)}
			for _, h := range r.headers {
				m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(h.key), Value: h.value})
			}
			producer.Input() <- m
		}
		producer.AsyncClose()
	}()
	var first error
	for e := range producer.Errors() {
		if first == nil {
			first = e
		}
	}
	return first
}

func saramaConsume(j *job, out *reading) error {
	cfg := sarama.NewConfig()
	cfg.Consumer.MaxWaitTime = 100 * time.Millisecond // closing a partition consumer waits for the fetch under way
	consumer, err := sarama.NewConsumer([]string{j.addr}, cfg)
	if err != nil {
		return err
	}
	defer consumer.Close()
	for p, end := range j.end {
		if err := saramaPartition(j, consumer, p, end, out); err != nil {
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return nil
}

func saramaPartition(j *job, consumer sarama.Consumer, p int, end int64, out *reading) error {
	if end == 0 {
		return nil
	}
	pc, err := consumer.ConsumePartition(j.topic, int32(p), 0)
	if err != nil {
		return err
	}
	defer pc.Close()
	for {
		select {
		case m, ok := <-pc.Messages():
			if !ok {
				return fmt.Errorf("message channel closed at offset %d", out.next[p])
			}
			headers := make([]header, 0, len(m.Headers))
			for _, h := range m.Headers {
				headers = append(headers, header{string(h.Key), h.Value})
			}
			out.add(p, m.Offset, m.Key, m.Value, headers)
			if out.err != nil || m.Offset == end-1 {
				return out.err
			}
		case <-j.ctx.Done():
			return j.ctx.Err()
		}
	}
}
