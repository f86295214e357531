package clients

import (
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

// kafkaGo is github.com/segmentio/kafka-go: Writer with acks=all and Reader on one partition.
var kafkaGo = client{name: "kafka-go", produce: kafkaGoProduce, consume: kafkaGoConsume}

var kafkaGoCodecs = map[string]kafka.Compression{"none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}

func kafkaGoProduce(j *job) error {
	transport := &kafka.Transport{} // the shared one caches metadata and would not know the new topic
	defer transport.CloseIdleConnections()
	w := &kafka.Writer{Addr: kafka.TCP(j.addr), Transport: transport, Topic: j.topic, RequiredAcks: kafka.RequireAll, Compression: kafkaGoCodecs[j.codec],
		BatchSize: 1000, BatchTimeout: 5 * time.Millisecond, MaxAttempts: 1, // a second attempt could write twice
		Balancer: kafka.BalancerFunc(func(m kafka.Message, parts ...int) int { return partitionOf(m.Key, len(parts)) })}
	defer w.Close()
	messages := make([]kafka.Message, len(j.records))
	for i, r := range j.records {
		messages[i] = kafka.Message{Key: r.key, Value: r.value}
		for _, h := range r.headers {
			messages[i].Headers = append(messages[i].Headers, kafka.Header{Key: h.key, Value: h.value})
		}
	}
	for from := 0; from < len(messages); from += 20000 {
		if err := w.WriteMessages(j.ctx, messages[from:min(from+20000, len(messages))]...); err != nil {
			return err
		}
	}
	return nil
}

func kafkaGoConsume(j *job, out *reading) error {
	for p, end := range j.end {
		if err := kafkaGoPartition(j, p, end, out); err != nil {
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return nil
}

func kafkaGoPartition(j *job, p int, end int64, out *reading) error {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{j.addr}, Topic: j.topic, Partition: p, MinBytes: 1, MaxBytes: 10 << 20, MaxWait: 100 * time.Millisecond})
	defer r.Close()
	if err := r.SetOffset(0); err != nil {
		return err
	}
	for out.next[p] < end {
		m, err := r.ReadMessage(j.ctx)
		if err != nil {
			return err
		}
		headers := make([]header, 0, len(m.Headers))
		for _, h := range m.Headers {
			headers = append(headers, header{h.Key, h.Value})
		}
		out.add(p, m.Offset, m.Key, m.Value, headers)
		if out.err != nil {
			return out.err
		}
	}
	return nil
}
