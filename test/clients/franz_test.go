package clients

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/test/harness"
)

// franz is github.com/twmb/franz-go: idempotent, acks=all.
var franz = client{name: "franz-go", produce: franzProduce, consume: franzConsume}

func franzProduce(j *job) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(j.addr), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(harness.Codec(slices.Index(harness.Codecs, j.codec))))
	if err != nil {
		return err
	}
	defer cl.Close()
	promise := kgo.AbortingFirstErrPromise(cl)
	for _, r := range j.records {
		rec := &kgo.Record{Topic: j.topic, Partition: int32(partitionOf(r.key, j.partitions)), Key: r.key, Value: r.value}
		for _, h := range r.headers {
			rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.key, Value: h.value})
		}
		cl.Produce(j.ctx, rec, promise.Promise())
	}
	if err := cl.Flush(j.ctx); err != nil {
		return err
	}
	return promise.Err()
}

func franzConsume(j *job, out *reading) error {
	offsets := map[string]map[int32]kgo.Offset{j.topic: {}}
	for p := range j.partitions {
		offsets[j.topic][int32(p)] = kgo.NewOffset().At(0)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(j.addr), kgo.ConsumePartitions(offsets))
	if err != nil {
		return err
	}
	defer cl.Close()
	for !out.done(j.end) {
		fetches := cl.PollFetches(j.ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			headers := make([]header, 0, len(r.Headers))
			for _, h := range r.Headers {
				headers = append(headers, header{h.Key, h.Value})
			}
			out.add(int(r.Partition), r.Offset, r.Key, r.Value, headers)
		})
		if out.err != nil {
			return fmt.Errorf("reading: %w", out.err)
		}
	}
	return nil
}
