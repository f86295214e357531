package controller

import "fmt"

// imageVersion is the version of an image's bytes.
const imageVersion = 1

// AppendImage appends the image's bytes. Equal images have equal bytes, whatever commands led to them.
func AppendImage(dst []byte, im *Image) []byte {
	dst = append(dst, imageVersion)
	dst = putString(dst, im.clusterID)
	dst = putUint(dst, im.index)
	dst = putInt(dst, im.nextProducerID)
	dst = putMap(dst, im.features, func(dst []byte, level int16) []byte { return putInt(dst, int64(level)) })
	dst = putUint(dst, uint64(len(im.brokers)))
	for _, b := range im.brokers {
		dst = putUUID(putInt(dst, int64(b.ID)), b.Incarnation)
		dst = putString(putInt(dst, b.Epoch), b.Rack)
		dst = putBool(putEndpoints(dst, b.Endpoints), b.Fenced)
	}
	dst = putUint(dst, uint64(len(im.sessions)))
	for _, s := range im.sessions {
		dst = putUUID(putInt(dst, int64(s.node)), s.incarnation)
		dst = putResult(putUint(dst, s.counter), &s.last)
	}
	resources := im.ConfigResources()
	dst = putUint(dst, uint64(len(resources)))
	for _, r := range resources {
		c, _ := im.configs.get(r)
		dst = putMap(putInt(putResource(dst, r), c.version), c.values, putString)
	}
	dst = putUint(dst, uint64(im.topics.len()))
	for t := range im.Topics() {
		dst = putTopicState(dst, t)
	}
	return dst
}

func putTopicState(dst []byte, t *Topic) []byte {
	dst = putUUID(putString(dst, t.Name), t.ID)
	dst = putMap(putInt(dst, t.ConfigVersion), t.Configs, putString)
	dst = putUint(dst, uint64(len(t.Partitions)))
	for i := range t.Partitions {
		p := &t.Partitions[i]
		dst = putInt(putInt(putInt(dst, int64(p.Leader)), int64(p.LeaderEpoch)), int64(p.PartitionEpoch))
		for _, set := range [...][]int32{p.Replicas, p.ISR, p.ELR, p.LastKnownELR, p.Adding, p.Removing} {
			dst = putIDs(dst, set)
		}
	}
	return dst
}

func putResult(dst []byte, r *Result) []byte {
	dst = putString(putInt(dst, int64(r.Code)), r.Text)
	dst = putUint(dst, r.Index)
	dst = putInt(putInt(dst, r.FirstProducerID), r.BrokerEpoch)
	dst = putUint(dst, uint64(len(r.Topics)))
	for i := range r.Topics {
		t := &r.Topics[i]
		dst = putUUID(putBool(putString(dst, t.Name), t.NoName), t.ID)
		dst = putString(putInt(dst, int64(t.Code)), t.Text)
		dst = putInt(putInt(dst, int64(t.Partitions)), int64(t.ReplicationFactor))
	}
	dst = putUint(dst, uint64(len(r.Configs)))
	for i := range r.Configs {
		c := &r.Configs[i]
		dst = putString(putInt(putResource(dst, c.Resource), int64(c.Code)), c.Text)
		dst = putBool(dst, c.Conflict)
	}
	return dst
}

// DecodeImage reads what AppendImage wrote, all of b. It copies.
//
// Errors: ErrMalformed, or one that names a version that this program does not know.
func DecodeImage(b []byte) (*Image, error) {
	r := &reader{b: b}
	if v := r.byte(); !r.bad && v != imageVersion {
		return nil, fmt.Errorf("controller: image version %d is not known to this program (it knows %d): a newer one wrote it", v, imageVersion)
	}
	bld := newBuilder(&Image{clusterID: r.string(), index: r.uint(), nextProducerID: r.int()})
	im := bld.im
	im.features = readMap(r, 1, r.int16)
	for range r.count(21) {
		b := &Broker{ID: r.int32(), Incarnation: r.uuid(), Epoch: r.int(), Rack: r.string(), Endpoints: r.endpoints(), Fenced: r.bool()}
		if n := len(im.brokers); r.bad || n > 0 && im.brokers[n-1].ID >= b.ID {
			return nil, ErrMalformed
		}
		im.brokers = append(im.brokers, b)
	}
	for range r.count(25) {
		s := &session{node: r.int32(), incarnation: r.uuid(), counter: r.uint(), last: r.result()}
		if n := len(im.sessions); r.bad || n > 0 && im.sessions[n-1].node >= s.node {
			return nil, ErrMalformed
		}
		im.sessions = append(im.sessions, s)
	}
	last := Resource{}
	for i := range r.count(4) {
		res, c := r.resource(), &config{}
		c.version, c.values = r.int(), readMap(r, 1, r.string)
		if r.bad || i > 0 && !last.less(res) || len(c.values) == 0 {
			return nil, ErrMalformed
		}
		last = res
		im.configs.set(bld.edit, res, c)
	}
	name := ""
	for range r.count(20) {
		t := r.topic()
		if r.bad || t.Name <= name || im.TopicByID(t.ID) != nil || len(t.Partitions) == 0 {
			return nil, ErrMalformed
		}
		name = t.Name
		bld.putTopic(t)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	out, _ := bld.Done()
	return out, nil
}

func (r *reader) topic() *Topic {
	t := &Topic{Name: r.string(), ID: r.uuid(), ConfigVersion: r.int()}
	t.Configs, t.Internal = readMap(r, 1, r.string), InternalTopic(t.Name)
	n := r.count(9)
	if n == 0 {
		return t
	}
	t.Partitions = make([]Partition, n)
	for i := range t.Partitions {
		p := &t.Partitions[i]
		p.Leader, p.LeaderEpoch, p.PartitionEpoch = r.int32(), r.int32(), r.int32()
		for _, set := range [...]*[]int32{&p.Replicas, &p.ISR, &p.ELR, &p.LastKnownELR, &p.Adding, &p.Removing} {
			*set = r.ids()
		}
		if r.bad || len(p.Replicas) == 0 {
			r.fail()
			break
		}
	}
	return t
}

func (r *reader) result() Result {
	out := Result{Code: Code(r.int16()), Text: r.string(), Index: r.uint(), FirstProducerID: r.int(), BrokerEpoch: r.int()}
	if n := r.count(23); n > 0 {
		out.Topics = make([]TopicResult, n)
		for i := range out.Topics {
			out.Topics[i] = TopicResult{Name: r.string(), NoName: r.bool(), ID: r.uuid(), Code: Code(r.int16()), Text: r.string(), Partitions: r.int32(), ReplicationFactor: r.int16()}
		}
	}
	if n := r.count(5); n > 0 {
		out.Configs = make([]ConfigResult, n)
		for i := range out.Configs {
			out.Configs[i] = ConfigResult{Resource: r.resource(), Code: Code(r.int16()), Text: r.string(), Conflict: r.bool()}
		}
	}
	return out
}
