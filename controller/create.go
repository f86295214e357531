package controller

import "fmt"

// maxPerRequest is the most new partitions that one request may ask for, and the most records (topics, configs and
// partitions together) that it may lead to, as in Kafka.
const maxPerRequest = 10000

// Defaults are the proposing broker's num.partitions and default.replication.factor.
type Defaults struct {
	Partitions        int32
	ReplicationFactor int16
}

// NewCreateTopics completes what a client asked for into a command: counts of -1 become the defaults (not for a
// manual assignment), every topic gets the id that newID draws, and check gives its verdict on the values set ("" is good;
// nil accepts all). The topics passed in are changed.
func NewCreateTopics(topics []NewTopic, d Defaults, newID func() UUID, check func(configs map[string]string) string) *CreateTopics {
	for i := range topics {
		t := &topics[i]
		t.ID = newID()
		if !t.Manual && t.Partitions == -1 {
			t.Partitions = d.Partitions
		}
		if !t.Manual && t.ReplicationFactor == -1 {
			t.ReplicationFactor = d.ReplicationFactor
		}
		if check != nil {
			t.ConfigError = check(t.Configs)
		}
	}
	return &CreateTopics{Topics: topics}
}

// ValidateCreate says what Apply would answer for c on im: one result for each distinct name, in order
// (for each entry if the whole request is refused). It is
// what validate_only uses; Apply runs the same checks, so a race gets the right codes.
func ValidateCreate(im *Image, c *CreateTopics) []TopicResult {
	plans := planCreate(im, c)
	out := make([]TopicResult, len(plans))
	for i := range plans {
		out[i] = plans[i].result
	}
	return out
}

// createPlan is the outcome for one topic and, if it is good, the replicas of its partitions.
type createPlan struct {
	spec     *NewTopic
	result   TopicResult
	replicas [][]int32
}

func planCreate(im *Image, c *CreateTopics) []createPlan {
	plans := make([]createPlan, 0, len(c.Topics))
	seen := make(map[string]int, len(c.Topics))
	for i := range c.Topics {
		spec := &c.Topics[i]
		if at, twice := seen[spec.Name]; twice {
			refuse(&plans[at].result, CodeInvalidRequest, "Duplicate topic name.")
			continue
		}
		seen[spec.Name] = len(plans)
		plans = append(plans, createPlan{spec: spec, result: noTopic(spec.Name)})
	}
	total := int64(0)
	for i := range plans {
		if r := &plans[i].result; r.Code == CodeNone && r.Name == metadataTopic {
			refuse(r, CodeInvalidRequest, "Creation of internal topic "+metadataTopic+" is prohibited.")
		}
		if plans[i].result.Code == CodeNone {
			total += plans[i].spec.newPartitions()
		}
	}
	if total > maxPerRequest {
		return refuseAll(c, "Excessively large number of partitions per request.")
	}
	usable, records := im.usableBrokers(), 0
	for i := range plans {
		if p := &plans[i]; p.result.Code == CodeNone {
			p.check(im, usable)
			if p.result.Code == CodeNone {
				records += 1 + len(p.spec.Configs) + len(p.replicas)
			}
		}
	}
	if records > maxPerRequest {
		return refuseAll(c, "Unable to perform excessively large batch operation.")
	}
	return plans
}

func noTopic(name string) TopicResult {
	return TopicResult{Name: name, Partitions: -1, ReplicationFactor: -1}
}

// refuseAll is the answer to a request that is refused as a whole: an entry for each of its entries, the doubled ones
// too.
func refuseAll(c *CreateTopics, text string) []createPlan {
	plans := make([]createPlan, len(c.Topics))
	for i := range plans {
		plans[i] = createPlan{spec: &c.Topics[i], result: noTopic(c.Topics[i].Name)}
		refuse(&plans[i].result, CodePolicyViolation, text)
	}
	return plans
}

// newPartitions is what the topic counts for the limit; a count that is not legal counts as 1.
func (t *NewTopic) newPartitions() int64 {
	if t.Manual {
		return int64(len(t.Assignment))
	}
	return max(int64(t.Partitions), 1)
}

func refuse(r *TopicResult, code Code, text string) { r.Code, r.Text = code, text }

// check runs Kafka's checks in Kafka's order: name, exists, collision, configs, then counts and assignments. Topics of
// one request may collide with each other, as in Kafka.
func (p *createPlan) check(im *Image, usable []placeBroker) {
	r, t := &p.result, p.spec
	if text := CheckTopicName(t.Name); text != "" {
		refuse(r, CodeInvalidTopic, text)
		return
	}
	if im.Topic(t.Name) != nil {
		refuse(r, CodeTopicExists, fmt.Sprintf("Topic '%s' already exists.", t.Name))
		return
	}
	if other := im.CollidingTopic(t.Name); other != "" {
		refuse(r, CodeInvalidTopic, fmt.Sprintf("Topic '%s' collides with existing topic: %s", t.Name, other))
		return
	}
	if t.ConfigError != "" {
		refuse(r, CodeInvalidConfig, t.ConfigError)
		return
	}
	if t.Manual {
		p.checkAssignment(im)
	} else {
		p.checkCounts(usable)
	}
	if r.Code == CodeNone {
		r.ID = t.ID
		r.Partitions, r.ReplicationFactor = int32(len(p.replicas)), int16(len(p.replicas[0]))
	}
}

func (p *createPlan) checkCounts(usable []placeBroker) {
	r, t := &p.result, p.spec
	switch {
	case t.ReplicationFactor <= 0:
		refuse(r, CodeInvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	case t.Partitions <= 0:
		refuse(r, CodeInvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	case int(t.ReplicationFactor) > len(usable):
		refuse(r, CodeInvalidReplicationFactor, fmt.Sprintf("Unable to replicate the partition %d time(s): "+
			"The target replication factor of %d cannot be reached because only %d broker(s) are registered.",
			t.ReplicationFactor, t.ReplicationFactor, len(usable)))
	default:
		p.replicas = place(usable, int(t.Partitions), int(t.ReplicationFactor), startOf(t.ID))
	}
}

func (p *createPlan) checkAssignment(im *Image) {
	r, t := &p.result, p.spec
	if t.ReplicationFactor != -1 {
		refuse(r, CodeInvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
		return
	}
	if t.Partitions != -1 {
		refuse(r, CodeInvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
		return
	}
	n := len(t.Assignment)
	if n == 0 {
		refuse(r, CodeInvalidReplicaAssignment, "The manual partition assignment is empty.")
		return
	}
	byIndex := make(map[int32][]int32, n)
	factor := len(t.Assignment[0].Replicas)
	for _, a := range t.Assignment {
		if _, twice := byIndex[a.Partition]; twice {
			refuse(r, CodeInvalidReplicaAssignment, fmt.Sprintf("Found multiple manual partition assignments for partition %d", a.Partition))
			return
		}
		if text := im.checkReplicas(a.Replicas, factor); text != "" {
			refuse(r, CodeInvalidReplicaAssignment, text)
			return
		}
		byIndex[a.Partition] = a.Replicas
	}
	replicas := make([][]int32, n)
	for i := range replicas {
		if replicas[i] = byIndex[int32(i)]; replicas[i] == nil {
			refuse(r, CodeInvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
			return
		}
	}
	p.replicas = replicas
}

// checkReplicas says what is wrong with the replica list of one partition, "" if nothing is.
func (im *Image) checkReplicas(replicas []int32, factor int) string {
	if len(replicas) == 0 {
		return "The manual partition assignment includes an empty replica list."
	}
	for i, id := range replicas {
		for _, other := range replicas[:i] {
			if other == id {
				return fmt.Sprintf("The manual partition assignment includes the broker %d more than once.", id)
			}
		}
		if im.Broker(id) == nil {
			return fmt.Sprintf("The manual partition assignment includes broker %d, but no such broker is registered.", id)
		}
	}
	if len(replicas) != factor {
		return fmt.Sprintf("The manual partition assignment includes a partition with %d replica(s), "+
			"but this is not consistent with previous partitions, which have %d replica(s).", len(replicas), factor)
	}
	return ""
}

// Kind implements Body.
func (c *CreateTopics) Kind() Kind { return KindCreateTopics }

func (c *CreateTopics) apply(b *Builder, index uint64) Result {
	plans := planCreate(b.im, c)
	out := make([]TopicResult, len(plans))
	for i := range plans {
		p := &plans[i]
		if p.result.Code == CodeNone && (p.spec.ID == UUID{} || b.im.TopicByID(p.spec.ID) != nil) {
			refuse(&p.result, CodeUnknownServerError, "The topic id is in use.")
		}
		if p.result.Code == CodeNone {
			b.createTopic(index, p)
		}
		out[i] = p.result
	}
	return Result{Topics: out}
}

func (b *Builder) createTopic(index uint64, p *createPlan) {
	t := &Topic{Name: p.spec.Name, ID: p.spec.ID, Configs: cloneMap(p.spec.Configs), ConfigVersion: int64(index), Internal: InternalTopic(p.spec.Name)}
	t.Partitions = make([]Partition, len(p.replicas))
	for i, replicas := range p.replicas {
		t.Partitions[i] = b.newPartition(replicas)
	}
	b.putTopic(t)
	b.change(Change{Kind: TopicCreated, Topic: t})
}

// newPartition has all its unfenced replicas in sync, the first of them leading.
func (b *Builder) newPartition(replicas []int32) Partition {
	p := Partition{Leader: NoLeader, Replicas: replicas}
	live := 0
	for _, id := range replicas {
		if !b.im.Broker(id).Fenced {
			live++
		}
	}
	if live == len(replicas) || live == 0 {
		p.ISR = replicas
	} else {
		for _, id := range replicas {
			if !b.im.Broker(id).Fenced {
				p.ISR = append(p.ISR, id)
			}
		}
	}
	p.Leader = Elect(&p, b.im.Live)
	return p
}
