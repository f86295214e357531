package controller

import "fmt"

// ValidateCreatePartitions says what Apply would answer for c on im: one result for each distinct name
// (for each entry if the whole request is refused).
func ValidateCreatePartitions(im *Image, c *CreatePartitions) []TopicResult {
	plans := planPartitions(im, c)
	out := make([]TopicResult, len(plans))
	for i := range plans {
		out[i] = plans[i].result
	}
	return out
}

// growPlan is the outcome for one topic and, if it is good, the replicas of its new partitions.
type growPlan struct {
	spec     *MorePartitions
	topic    *Topic
	result   TopicResult
	replicas [][]int32
}

func planPartitions(im *Image, c *CreatePartitions) []growPlan {
	plans := make([]growPlan, 0, len(c.Topics))
	seen := make(map[string]int, len(c.Topics))
	for i := range c.Topics {
		spec := &c.Topics[i]
		if at, twice := seen[spec.Name]; twice {
			refuse(&plans[at].result, CodeInvalidRequest, "Duplicate topic name.")
			continue
		}
		seen[spec.Name] = len(plans)
		plans = append(plans, growPlan{spec: spec, topic: im.Topic(spec.Name), result: TopicResult{Name: spec.Name}})
	}
	total := int64(0)
	for i := range plans {
		if p := &plans[i]; p.result.Code == CodeNone && p.topic != nil {
			total += max(int64(p.spec.Count)-int64(len(p.topic.Partitions)), 0)
		}
	}
	if total > maxPerRequest {
		plans = make([]growPlan, len(c.Topics))
		for i := range plans {
			plans[i].result.Name = c.Topics[i].Name
			refuse(&plans[i].result, CodePolicyViolation, "Excessively large number of additional partitions per request.")
		}
		return plans
	}
	usable := im.usableBrokers()
	for i := range plans {
		if p := &plans[i]; p.result.Code == CodeNone {
			p.check(im, usable)
		}
	}
	return plans
}

func (p *growPlan) check(im *Image, usable []placeBroker) {
	r, t := &p.result, p.topic
	if t == nil {
		refuse(r, CodeUnknownTopicOrPartition, "")
		return
	}
	r.ID = t.ID
	have := int32(len(t.Partitions))
	more := int64(p.spec.Count) - int64(have)
	factor := len(t.Partitions[0].Replicas)
	switch {
	case more == 0:
		refuse(r, CodeInvalidPartitions, fmt.Sprintf("Topic already has %d partition(s).", have))
	case more < 0:
		refuse(r, CodeInvalidPartitions, fmt.Sprintf("The topic %s currently has %d partition(s); %d would not be an increase.", t.Name, have, p.spec.Count))
	case p.spec.Manual && int64(len(p.spec.Assignment)) != more:
		refuse(r, CodeInvalidReplicaAssignment, fmt.Sprintf("Attempted to add %d additional partition(s), but only %d assignment(s) were specified.", more, len(p.spec.Assignment)))
	case p.spec.Manual:
		for _, replicas := range p.spec.Assignment {
			if text := im.checkReplicas(replicas, factor); text != "" {
				refuse(r, CodeInvalidReplicaAssignment, text)
				return
			}
		}
		p.replicas = p.spec.Assignment
	case factor > len(usable):
		refuse(r, CodeInvalidReplicationFactor, fmt.Sprintf("The target replication factor of %d cannot be reached because only %d broker(s) are registered.", factor, len(usable)))
	default:
		p.replicas = place(usable, int(more), factor, startOf(t.ID)+int(have))
	}
	if r.Code == CodeNone {
		r.Partitions, r.ReplicationFactor = p.spec.Count, int16(factor)
	}
}

// Kind implements Body.
func (c *CreatePartitions) Kind() Kind { return KindCreatePartitions }

func (c *CreatePartitions) apply(b *Builder, _ uint64) Result {
	plans := planPartitions(b.im, c)
	out := make([]TopicResult, len(plans))
	for i := range plans {
		p := &plans[i]
		out[i] = p.result
		if p.result.Code != CodeNone {
			continue
		}
		t := *p.topic
		t.Partitions = append(make([]Partition, 0, p.spec.Count), p.topic.Partitions...)
		for _, replicas := range p.replicas {
			t.Partitions = append(t.Partitions, b.newPartition(replicas))
		}
		b.putTopic(&t)
		b.change(Change{Kind: PartitionsAdded, Topic: &t, Partition: int32(len(p.topic.Partitions))})
	}
	return Result{Topics: out}
}
