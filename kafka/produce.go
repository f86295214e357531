package kafka

import (
	"bytes"
	"errors"
	"sync/atomic"

	"github.com/valyala/bytebufferpool"

	"millrace/broker"
	"millrace/engine"
	"millrace/kafka/validate"
	"millrace/kafka/wire"
	"millrace/netpoll"
)

// Produce, versions 3 to 13.
//
// The order of the checks is Kafka's: topic and partition, the request's record rules, acks, then per batch header,
// records, append. Each partition has an answer of its own. One partition named twice: the last entry counts.

// Acks values that Kafka knows.
const (
	acksAll  = -1
	acksNone = 0
	acksOne  = 1
)

// adminClientID may write internal topics, as in Kafka.
var adminClientID = []byte("__admin_client")

// produceState is the part of a request that Produce uses. Owned by the connection's loop, but for open, which the
// owners of the partitions count down.
type produceState struct {
	req    *request
	view   wire.ProduceView
	topics []produceTopic
	parts  []*producePart
	spare  []*producePart
	seen   map[uint64]int32 // (topic, index) to place in parts; used for large requests only
	open   atomic.Int32     // appends under way, plus one while they are being pushed
	home   netpoll.Task
	reply  wire.ProduceReply
	failed bool
	// refusal is the error of the whole request. Kafka reads the first batch of each partition before anything else, up to
	// the first that is transactional: one that cannot be read, or a transactional one without transactional id, fails all.
	refusal wire.ErrorCode
	scanned bool
	// behind is the next request that waits for a worker to check its large batches, checkedAtMs the time that they are
	// checked for.
	behind      *produceState
	checkedAtMs int64
}

// produceTopic is one topic of the answer, with its partitions as a chain through parts.
type produceTopic struct {
	name        []byte
	id          wire.UUID
	handle      *broker.Topic
	first, last int32
	count       int
}

// producePart is one partition of the request. It is the completer of its append.
type producePart struct {
	state   *produceState
	topic   int32
	next    int32
	records []byte
	part    *engine.Partition
	append  engine.Append
	result  wire.ProducePartitionReply
	errs    []wire.RecordError
	later   bool // checked by a worker
	stored  *bytebufferpool.ByteBuffer
}

func (r *request) init() {
	r.produce.req = r
	r.produce.home.Run = &r.produce
	r.fetch.init(r)
}

// produce takes a Produce request from its frame.
func (f *Frontend) produce(r *request) {
	p := &r.produce
	if err := p.view.Parse(r.hdr.Body, r.hdr.Version); err != nil {
		r.fail(err)
		return
	}
	p.collect(f)
	for _, part := range p.parts {
		if p.refusal != wire.NoError {
			part.refuse(p.refusal, p.refusalText())
		} else {
			f.checkTarget(p, part)
		}
	}
	if p.refusal == wire.UnknownServerError {
		for _, part := range p.parts {
			part.result.Error, part.result.Message = p.refusal, ""
		}
	}
	if a := p.view.Acks; a != acksAll && a != acksNone && a != acksOne {
		for _, part := range p.parts {
			part.refuse(wire.InvalidRequiredAcks, "")
		}
	}
	if !bytes.Equal(r.hdr.ClientID, adminClientID) {
		for _, part := range p.parts {
			if t := p.topics[part.topic].handle; t != nil && t.Internal {
				part.refuse(wire.InvalidTopicException, "")
			}
		}
	}
	now, deferred := r.conn.ls.loop.WallMs(), false
	for _, part := range p.parts {
		if part.result.Error == wire.NoError {
			f.checkBatch(&r.conn.ls.checker, part, now)
			deferred = deferred || part.later
		}
	}
	if deferred {
		f.checkElsewhere(p, now)
		return
	}
	p.push()
}

// collect lists the partitions of the request, one entry each.
func (p *produceState) collect(f *Frontend) {
	byMap := p.view.PartitionCount > 48
	if byMap && p.seen == nil {
		p.seen = make(map[uint64]int32, p.view.PartitionCount)
	}
	it := p.view.Topics()
	var t wire.ProduceTopic
	for it.Next(&t) {
		at := p.topicAt(f, &t)
		parts := t.Partitions()
		var e wire.ProducePartition
		for parts.Next(&e) {
			p.entry(at, &e, byMap)
		}
	}
}

// topicAt finds or adds the topic of an entry.
func (p *produceState) topicAt(f *Frontend, t *wire.ProduceTopic) int32 {
	byID := p.view.Version >= 13
	for i := range p.topics {
		have := &p.topics[i]
		if byID && have.id == t.ID || !byID && bytes.Equal(have.name, t.Name) {
			return int32(i)
		}
	}
	n := produceTopic{name: t.Name, id: t.ID, first: -1, last: -1}
	if byID {
		n.handle = f.node.TopicByID(t.ID)
	} else {
		n.handle = f.node.TopicByName(t.Name)
	}
	p.topics = append(p.topics, n)
	return int32(len(p.topics) - 1)
}

func (p *produceState) entry(topic int32, e *wire.ProducePartition, byMap bool) {
	p.scan(e.Records)
	if old := p.find(topic, e.Index, byMap); old != nil {
		old.records = e.Records
		return
	}
	at := int32(len(p.parts))
	var part *producePart
	if n := len(p.spare); n > 0 {
		part = p.spare[n-1]
		p.spare = p.spare[:n-1]
	} else {
		part = &producePart{state: p}
		part.append.Done = part
	}
	part.topic, part.next, part.records = topic, -1, e.Records
	part.result = wire.ProducePartitionReply{Index: e.Index, BaseOffset: -1, LogAppendTimeMs: -1, LogStartOffset: -1, Leader: wire.NoLeaderHint}
	p.parts = append(p.parts, part)
	if byMap {
		p.seen[partKey(topic, e.Index)] = at
	}
	t := &p.topics[topic]
	if t.first < 0 {
		t.first = at
	} else {
		p.parts[t.last].next = at
	}
	t.last = at
	t.count++
}

// refusalText goes with the error of a whole request; Kafka says nothing about transactional ids.
func (p *produceState) refusalText() string {
	if p.refusal == wire.CorruptMessage {
		return "a partition does not begin with a batch"
	}
	return ""
}

// scan looks at the first batch of an entry, in the order of the request.
func (p *produceState) scan(records []byte) {
	switch {
	case p.scanned:
	case validate.Unreadable(records):
		p.refusal, p.scanned = wire.CorruptMessage, true
	case validate.Transactional(records):
		p.scanned = true
		if p.view.TransactionalID == nil {
			p.refusal = wire.TransactionalIdAuthorizationFailed
		}
	}
}

// spareParts bounds the partition entries that a request keeps for its next use.
const spareParts = 256

func partKey(topic, index int32) uint64 { return uint64(uint32(topic))<<32 | uint64(uint32(index)) }

func (p *produceState) find(topic, index int32, byMap bool) *producePart {
	if byMap {
		if at, ok := p.seen[partKey(topic, index)]; ok {
			return p.parts[at]
		}
		return nil
	}
	for _, part := range p.parts {
		if part.topic == topic && part.result.Index == index {
			return part
		}
	}
	return nil
}

func (part *producePart) refuse(code wire.ErrorCode, message string) {
	if part.result.Error == wire.NoError {
		part.result.Error, part.result.Message = code, message
	}
}

// checkTarget decides whether the partition is there and the request's record rules hold.
func (f *Frontend) checkTarget(p *produceState, part *producePart) {
	t := &p.topics[part.topic]
	if t.handle == nil {
		if p.view.Version >= 13 {
			part.refuse(wire.UnknownTopicId, "")
		} else {
			part.refuse(wire.UnknownTopicOrPartition, "")
		}
		return
	}
	if part.part = t.handle.Partition(part.result.Index); part.part == nil {
		part.refuse(f.absent(t.handle, part.result.Index), "")
		return
	}
	one, code := validate.Rules(part.records, p.view.Version)
	if code != wire.NoError {
		part.refuse(code, "")
		if code == wire.UnknownServerError {
			p.refusal = code
		}
		return
	}
	if p.view.TransactionalID != nil && validate.Transactional(one) {
		// No transactional producer exists on this broker.
		part.refuse(wire.InvalidProducerIdMapping, "")
		return
	}
	part.records = one
}

// absent tells a partition that does not exist from one that is not ready to lead.
func (f *Frontend) absent(t *broker.Topic, index int32) wire.ErrorCode {
	if index >= 0 && int(index) < f.node.PartitionCount(t.ID) {
		if f.node.Lost(t.ID, index) {
			return wire.KafkaStorageError
		}
		return wire.NotLeaderOrFollower
	}
	return wire.UnknownTopicOrPartition
}

// checkBatch runs Kafka's checks on the batch and makes its bytes final. What is too large for a loop is marked for
// later; called again, on a worker, it ends the check.
func (f *Frontend) checkBatch(c *validate.Checker, part *producePart, nowMs int64) {
	var rules validate.Topic
	batchRules(part.state.topics[part.topic].handle.Config(), &rules)
	large := part.later
	if !large {
		v, code := validate.Header(part.records, &rules)
		if code != wire.NoError {
			part.refuse(code, "")
			part.tellLogStart()
			return
		}
		part.append.Batch = v
	}
	var dst []byte
	if rules.Recompress && rules.Codec != part.append.Batch.Attributes().Codec() {
		if storedBytes.Load() > storedMax {
			part.refuse(wire.RequestTimedOut, "too many batches that were compressed anew wait to be written; try again")
			part.tellLogStart()
			part.later = false
			return
		}
		part.stored = replyPool.Get()
		dst = part.stored.B[:0]
	}
	var res validate.Result
	if large {
		res = c.Large(part.append.Batch, &rules, nowMs, dst)
	} else {
		res = c.Records(part.append.Batch, &rules, nowMs, dst)
	}
	if res.Deferred {
		part.later = true
		part.dropStored()
		return
	}
	part.later = false
	if res.Code != wire.NoError {
		part.errs = append(part.errs[:0], res.Errors...)
		part.result.RecordErrors = part.errs
		message := ""
		if len(res.Errors) > 0 {
			message = res.Message // Kafka explains what is wrong with records, nothing else
		}
		part.refuse(res.Code, message)
		part.tellLogStart()
		part.dropStored()
		return
	}
	part.append.Batch = res.Batch
	part.result.LogAppendTimeMs = res.AppendTimeMs
	if part.stored != nil {
		part.stored.B = res.Batch
		storedBytes.Add(int64(len(res.Batch)))
	}
}

// tellLogStart adds the log start to a refusal and counts it as a failure, where Kafka does: not with the errors that it
// takes for known.
func (part *producePart) tellLogStart() {
	switch part.result.Error {
	case wire.UnknownTopicOrPartition, wire.NotLeaderOrFollower, wire.MessageTooLarge, wire.RecordListTooLarge, wire.CorruptMessage,
		wire.KafkaStorageError, wire.UnknownTopicId:
	default:
		part.result.LogStartOffset = part.part.Bounds().LogStart
		part.state.topics[part.topic].handle.Stats.FailedProduce.Add(1)
	}
}

func (part *producePart) dropStored() {
	if part.stored != nil {
		replyPool.Put(part.stored)
		part.stored = nil
	}
}

// push hands the good batches to their partitions.
func (p *produceState) push() {
	need := engine.NeedWritten
	switch p.view.Acks {
	case acksAll:
		need = engine.NeedCommitted
	case acksNone:
		need = engine.NeedNone
	}
	good := int32(0)
	for _, part := range p.parts {
		if part.result.Error == wire.NoError {
			good++
		} else {
			p.failed = true
		}
	}
	p.open.Store(good + 1)
	for _, part := range p.parts {
		if part.result.Error != wire.NoError {
			continue
		}
		a := &part.append
		a.Need, a.LeaderEpoch = need, -1
		if part.stored != nil {
			a.Ref = (*storedBatch)(part.stored)
			part.stored = nil
		} else {
			p.req.buf.Retain()
			a.Ref = p.req.buf
		}
		t := p.topics[part.topic].handle
		t.Stats.BytesIn.Add(int64(len(a.Batch)))
		t.Stats.MessagesIn.Add(int64(a.Batch.Count()))
		part.part.Push(a)
	}
	if p.open.Add(-1) == 0 {
		p.answer()
	}
}

// AppendDone implements engine.AppendCompleter, on the loop that owns the partition.
func (part *producePart) AppendDone(a *engine.Append) {
	p := part.state
	if p.open.Add(-1) == 0 {
		p.req.conn.ls.loop.Post(&p.home)
	}
}

// RunTask implements netpoll.Runner: the last append has ended.
func (p *produceState) RunTask(*netpoll.Task) { p.answer() }

var errSilentProduce = errors.New("a produce request with acks=0 failed: closing its connection, as Kafka does")

// answer builds the reply once every partition has its result.
func (p *produceState) answer() {
	r := p.req
	for _, part := range p.parts {
		if part.append.Batch != nil && part.result.Error == wire.NoError {
			p.settle(part)
		}
	}
	for i := range p.topics {
		if t := &p.topics[i]; t.handle != nil {
			t.handle.Stats.ProduceRequests.Add(int64(t.count))
		}
	}
	if p.view.Acks == acksNone {
		failed := p.failed
		p.reset()
		if failed {
			r.conn.close(errSilentProduce)
		}
		r.finish(nil)
		return
	}
	bb := replyPool.Get()
	p.reply.Begin(bb.B[:0], r.hdr.Version, r.hdr.CorrelationID, len(p.topics))
	for i := range p.topics {
		t := &p.topics[i]
		p.reply.Topic(t.name, t.id, t.count)
		for at := t.first; at >= 0; at = p.parts[at].next {
			p.reply.Partition(&p.parts[at].result)
		}
		p.reply.EndTopic()
	}
	b := p.reply.End(0, nil)
	p.reset()
	r.respondBytes(bb, b)
}

// settle turns the result of an append into the partition's answer.
func (p *produceState) settle(part *producePart) {
	a := &part.append
	if a.Err != nil {
		p.failed = true
		part.result.LogAppendTimeMs = -1
		part.refuse(codeOf(a.Err), "")
		part.tellLogStart()
		return
	}
	part.result.BaseOffset, part.result.LogStartOffset = a.BaseOffset, a.LogStart
	if a.Duplicate {
		part.result.LogAppendTimeMs = a.AppendTimeMs
	}
}

// reset makes the state ready for the next request.
func (p *produceState) reset() {
	for i, part := range p.parts {
		part.dropStored()
		part.records, part.part, part.later = nil, nil, false
		part.append.Batch, part.append.Ref, part.append.Err = nil, nil, nil
		part.result.RecordErrors = nil
		if len(p.spare) < spareParts {
			p.spare = append(p.spare, part)
		}
		p.parts[i] = nil
	}
	p.parts = p.parts[:0]
	clear(p.topics)
	p.topics = p.topics[:0]
	clear(p.seen)
	p.failed, p.scanned, p.refusal = false, false, wire.NoError
}
