package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/broker"
	"millrace/controller"
	"millrace/internal/config"
)

// createTopics answers CreateTopics, versions 2 to 7, when the new topics can take writes.
func (f *Frontend) createTopics(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.CreateTopicsRequest)
	layers := f.node.Layers()
	body := controller.NewCreateTopics(newTopics(req, layers), f.defaults(), broker.NewUUID, nil)
	if req.ValidateOnly {
		return f.createdReply(req, body, controller.ValidateCreate(f.node.Image(), body), layers)
	}
	f.node.Propose(body, func(res controller.Result) {
		if res.Code != controller.CodeNone {
			r.respondLater(f.createdReply(req, body, failAll(len(body.Topics), body, res), layers))
			return
		}
		r.respondLater(f.createdReply(req, body, res.Topics, layers))
	})
	return nil
}

func (f *Frontend) defaults() controller.Defaults {
	c := f.node.Config()
	return controller.Defaults{Partitions: c.NumPartitions, ReplicationFactor: c.ReplicationFactor}
}

func newTopics(req *kmsg.CreateTopicsRequest, layers *config.Layers) []controller.NewTopic {
	topics := make([]controller.NewTopic, len(req.Topics))
	for i := range req.Topics {
		q, t := &req.Topics[i], &topics[i]
		t.Name, t.Partitions, t.ReplicationFactor = q.Topic, q.NumPartitions, q.ReplicationFactor
		t.Manual = len(q.ReplicaAssignment) > 0
		for _, a := range q.ReplicaAssignment {
			t.Assignment = append(t.Assignment, controller.Assignment{Partition: a.Partition, Replicas: a.Replicas})
		}
		pairs := make([]config.Pair, len(q.Configs))
		for j, c := range q.Configs {
			pairs[j] = config.Pair{Name: c.Name, Value: c.Value}
		}
		set, err := layers.CreateTopic(pairs)
		if err != nil {
			t.ConfigError = err.Message
		}
		t.Configs = set
	}
	return topics
}

// failAll gives every topic the error of the whole command.
func failAll(n int, body *controller.CreateTopics, res controller.Result) []controller.TopicResult {
	out := make([]controller.TopicResult, n)
	for i := range out {
		out[i] = controller.TopicResult{Name: body.Topics[i].Name, Code: res.Code, Text: res.Text, Partitions: -1, ReplicationFactor: -1}
	}
	return out
}

func (f *Frontend) createdReply(req *kmsg.CreateTopicsRequest, body *controller.CreateTopics, results []controller.TopicResult, layers *config.Layers) kmsg.Response {
	resp := kmsg.NewPtrCreateTopicsResponse()
	byName := make(map[string]*controller.NewTopic, len(body.Topics))
	for i := range body.Topics {
		byName[body.Topics[i].Name] = &body.Topics[i]
	}
	for i := range results {
		res := &results[i]
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic, t.ErrorCode = res.Name, int16(res.Code)
		if res.Text != "" {
			t.ErrorMessage = &res.Text
		}
		t.NumPartitions, t.ReplicationFactor = -1, -1
		t.Configs = []kmsg.CreateTopicsResponseTopicConfig{} // Kafka answers a list, never null
		if res.Code == controller.CodeNone {
			t.NumPartitions, t.ReplicationFactor = res.Partitions, res.ReplicationFactor
			t.TopicID = res.ID
			t.Configs = createdConfigs(layers.DescribeCreated(config.Set(byName[res.Name].Configs)))
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func createdConfigs(entries []config.Entry) []kmsg.CreateTopicsResponseTopicConfig {
	out := make([]kmsg.CreateTopicsResponseTopicConfig, len(entries))
	for i := range entries {
		e, c := &entries[i], &out[i]
		*c = kmsg.NewCreateTopicsResponseTopicConfig()
		c.Name, c.Value, c.ReadOnly, c.Source, c.IsSensitive = e.Name, e.Value, e.ReadOnly, int8(e.Source), e.Sensitive
	}
	return out
}
