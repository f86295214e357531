package target

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/bench/rawgen"
)

// Ready waits until ApiVersions is answered and returns the answer.
func Ready(addr string, patience time.Duration) (*kmsg.ApiVersionsResponse, error) {
	req := kmsg.NewPtrApiVersionsRequest()
	resp := kmsg.NewPtrApiVersionsResponse()
	var err error
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if err = rawgen.Call(addr, req, resp, 5*time.Second); err == nil {
			if resp.ErrorCode == 0 {
				return resp, nil
			}
			err = fmt.Errorf("error code %d", resp.ErrorCode)
		}
	}
	return nil, fmt.Errorf("ApiVersions from %s: %w", addr, err)
}

// CreateTopic makes a topic with one replica and waits until every partition has a leader.
func CreateTopic(addr, name string, partitions int, configs map[string]string) error {
	return CreateReplicated(addr, name, partitions, 1, configs)
}

// Brokers counts the brokers that Metadata names.
func Brokers(addr string) (int, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 5
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp := kmsg.NewPtrMetadataResponse()
	err := rawgen.Call(addr, req, resp, 10*time.Second)
	return len(resp.Brokers), err
}

// CreateReplicated makes a topic with so many replicas and waits until every partition has a leader.
func CreateReplicated(addr, name string, partitions, replicas int, configs map[string]string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 5, 60000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, int32(partitions), int16(replicas)
	for k, v := range configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = k, kmsg.StringPtr(v)
		t.Configs = append(t.Configs, c)
	}
	req.Topics = append(req.Topics, t)
	resp := kmsg.NewPtrCreateTopicsResponse()
	var code int16
	for until := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		resp.Default()
		resp.Topics = nil
		if err := rawgen.Call(addr, req, resp, 60*time.Second); err != nil {
			return fmt.Errorf("CreateTopics %s: %w", name, err)
		}
		if len(resp.Topics) != 1 {
			return fmt.Errorf("CreateTopics %s: %d topics answered", name, len(resp.Topics))
		}
		code = resp.Topics[0].ErrorCode
		if code == 0 {
			break
		}
		// A broker that has just started may have no controller, or not be one of the live brokers yet.
		if code != 41 && code != 38 && code != 7 || time.Now().After(until) {
			return fmt.Errorf("CreateTopics %s: error code %d", name, code)
		}
	}
	return awaitLeaders(addr, name, partitions)
}

func awaitLeaders(addr, name string, partitions int) error {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 5
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, mt)
	led := 0
	for until := time.Now().Add(60 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		resp := kmsg.NewPtrMetadataResponse()
		if err := rawgen.Call(addr, req, resp, 10*time.Second); err != nil {
			return fmt.Errorf("Metadata: %w", err)
		}
		led = 0
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if t.ErrorCode == 0 && p.ErrorCode == 0 && p.Leader >= 0 {
					led++
				}
			}
		}
		if led < partitions {
			continue
		}
		// Kafka names a leader before that leader knows: only an answer from the leader itself counts.
		if _, err := rawgen.Offsets(addr, name, partitions, -1); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: %d of %d partitions have a leader", name, led, partitions)
}

// DeleteTopic drops a topic.
func DeleteTopic(addr, name string) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version, req.TimeoutMillis = 3, 60000
	req.TopicNames = []string{name}
	resp := kmsg.NewPtrDeleteTopicsResponse()
	if err := rawgen.Call(addr, req, resp, 60*time.Second); err != nil {
		return err
	}
	for _, t := range resp.Topics {
		if t.ErrorCode != 0 {
			return fmt.Errorf("DeleteTopics %s: error code %d", name, t.ErrorCode)
		}
	}
	return nil
}
