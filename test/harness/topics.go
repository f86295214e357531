package harness

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Name makes a topic name that no other test run has used.
func Name(prefix string) string { return fmt.Sprintf("%s-%08x", prefix, rand.Uint32()) }

// CreateTopic creates a topic with one replica; config is key, value, key, value. It waits until the broker leads every partition.
func CreateTopic(t testing.TB, addr, name string, partitions int, config ...string) {
	t.Helper()
	if err := TryCreateTopic(addr, name, partitions, config...); err != nil {
		t.Fatalf("creating topic %s: %v", name, err)
	}
}

// TryCreateTopic is CreateTopic that returns its error.
func TryCreateTopic(addr, name string, partitions int, config ...string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = 7
	req.TimeoutMillis = 30000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, int32(partitions), 1
	for i := 0; i+1 < len(config); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = config[i], &config[i+1]
		topic.Configs = append(topic.Configs, c)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := Once(addr, req)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(resp.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode); err != nil {
		return err
	}
	return waitLed(addr, name, partitions)
}

// waitLed waits until produce requests would find a leader: Kafka answers 3 or 6 for some milliseconds after a creation.
func waitLed(addr, name string, partitions int) error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		led := 0
		for p := range partitions {
			if _, code, err := EndOffset(addr, name, int32(p), -1); err != nil {
				return err
			} else if code == 0 {
				led++
			}
		}
		if led == partitions {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("topic %s: %d of %d partitions led after 30 s", name, led, partitions)
		}
	}
}

// DeleteTopic deletes a topic by name.
func DeleteTopic(t testing.TB, addr, name string) {
	t.Helper()
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version = 3
	req.TopicNames, req.TimeoutMillis = []string{name}, 30000
	resp, err := Once(addr, req)
	if err != nil {
		t.Fatalf("deleting topic %s: %v", name, err)
	}
	if code := resp.(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode; code != 0 {
		t.Fatalf("deleting topic %s: error %d", name, code)
	}
}

// EndOffset asks ListOffsets for a partition at a special or real timestamp. It returns the offset and the partition's error code.
func EndOffset(addr, topic string, partition int32, timestamp int64) (offset int64, code int16, err error) {
	resp, err := Once(addr, ListOffsets(topic, partition, timestamp, 0))
	if err != nil {
		return 0, 0, err
	}
	p := resp.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
	return p.Offset, p.ErrorCode, nil
}

// ListOffsets builds a request for one partition, version 7.
func ListOffsets(topic string, partition int32, timestamp int64, isolation int8) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID, req.IsolationLevel = 7, -1, isolation
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Partition, rp.Timestamp, rp.CurrentLeaderEpoch = partition, timestamp, -1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// Produce builds a request for one partition, version 9.
func Produce(topic string, partition int32, acks int16, records []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, acks, 10000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Partition, rp.Records = partition, records
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// ProduceOne sends a batch to one partition with acks=all and returns the partition's part of the answer.
func ProduceOne(c *Conn, topic string, partition int32, records []byte) (kmsg.ProduceResponseTopicPartition, error) {
	resp, err := c.Do(Produce(topic, partition, -1, records))
	if err != nil {
		return kmsg.ProduceResponseTopicPartition{}, err
	}
	return resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0], nil
}

// MustProduce is ProduceOne that ends the test unless the batch was taken; it returns the base offset.
func MustProduce(t testing.TB, c *Conn, topic string, partition int32, records []byte) int64 {
	t.Helper()
	p, err := ProduceOne(c, topic, partition, records)
	if err != nil {
		t.Fatalf("produce to %s-%d: %v", topic, partition, err)
	}
	if p.ErrorCode != 0 {
		t.Fatalf("produce to %s-%d: %v", topic, partition, kerr.ErrorForCode(p.ErrorCode))
	}
	return p.BaseOffset
}

// FetchFrom is one partition of a Fetch.
type FetchFrom struct {
	Topic     string
	Partition int32
	Offset    int64
	Max       int32 // partition_max_bytes; default 1 MiB
}

// Fetch builds a sessionless request, version 11 (the last before flexible encoding, still by topic name).
func Fetch(maxWait, minBytes, maxBytes int32, parts ...FetchFrom) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 11, -1, maxWait, minBytes, maxBytes
	req.SessionEpoch = -1
	for _, p := range parts {
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = p.Partition, p.Offset, p.Max
		rp.CurrentLeaderEpoch, rp.LogStartOffset = -1, -1
		if p.Max == 0 {
			rp.PartitionMaxBytes = 1 << 20
		}
		if n := len(req.Topics); n > 0 && req.Topics[n-1].Topic == p.Topic {
			req.Topics[n-1].Partitions = append(req.Topics[n-1].Partitions, rp)
			continue
		}
		rt := kmsg.NewFetchRequestTopic()
		rt.Topic = p.Topic
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
	}
	return req
}

// TopicConfig sets one topic config through IncrementalAlterConfigs.
func TopicConfig(t testing.TB, addr, topic, key, value string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Version = 1
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Value = key, &value
	res.Configs = append(res.Configs, c)
	req.Resources = append(req.Resources, res)
	resp, err := Once(addr, req)
	if err != nil {
		t.Fatal(err)
	}
	if r := resp.(*kmsg.IncrementalAlterConfigsResponse).Resources[0]; r.ErrorCode != 0 {
		t.Fatalf("setting %s=%s on %s: %v", key, value, topic, kerr.ErrorForCode(r.ErrorCode))
	}
}
