package kafka

import (
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/controller"
	"millrace/kafka/wire"
)

// Operation bits that are answered without an authorizer: every operation that the resource has.
const (
	operationsUnset   int32 = -2147483648
	clusterOperations int32 = 8096
	topicOperations   int32 = 3576
	groupOperations   int32 = 3400
)

// metadata answers Metadata, versions 0 to 13. A partition has a leader in the answer only when that leader can take
// writes.
func (f *Frontend) metadata(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.MetadataRequest)
	resp := kmsg.NewPtrMetadataResponse()
	image := f.node.Image()
	f.addBrokers(resp, image, r.conn.nc.Info().Listener)
	v := r.hdr.Version
	if req.IncludeClusterAuthorizedOperations && v <= 10 {
		resp.AuthorizedOperations = clusterOperations
	}
	if req.Topics == nil && v >= 1 || len(req.Topics) == 0 && v == 0 {
		for t := range image.Topics() {
			resp.Topics = append(resp.Topics, f.topicMetadata(t, req, v))
		}
		return resp
	}
	f.namedTopics(r, req, resp, image)
	return resp
}

func (f *Frontend) addBrokers(resp *kmsg.MetadataResponse, image *controller.Image, listener int) {
	for _, b := range image.Brokers() {
		if b.Fenced {
			continue
		}
		mb := kmsg.NewMetadataResponseBroker()
		mb.NodeID = b.ID
		mb.Host, mb.Port = f.endpointOf(b, listener)
		if b.Rack != "" {
			mb.Rack = &b.Rack
		}
		resp.Brokers = append(resp.Brokers, mb)
	}
	id := image.ClusterID()
	resp.ClusterID = &id
	resp.ControllerID = f.node.ID()
}

// endpointOf is where clients of one of our listeners reach a broker: by the listener of the same name.
func (f *Frontend) endpointOf(b *controller.Broker, listener int) (host string, port int32) {
	if b.ID == f.node.ID() {
		return f.node.Advertised(listener)
	}
	if e, ok := b.Endpoint(f.node.ListenerName(listener)); ok {
		return e.Host, e.Port
	}
	return "", -1
}

// namedTopics answers the topics that the request lists: by id where one is given from v12 on, else by name.
func (f *Frontend) namedTopics(r *request, req *kmsg.MetadataRequest, resp *kmsg.MetadataResponse, image *controller.Image) {
	v := r.hdr.Version
	mayCreate := (v < 4 || req.AllowAutoTopicCreation) && f.node.Config().AutoCreateTopics
	var missing []string
	byID := v >= 12 && namesIDs(req)
	seen, unknown := make(map[string]bool, len(req.Topics)), map[controller.UUID]bool{}
	for i := range req.Topics {
		q := &req.Topics[i]
		if v >= 10 && v < 12 && (q.Topic == nil || q.TopicID != [16]byte{}) || !byID && q.Topic == nil && q.TopicID == [16]byte{} {
			refuseLookup(req, resp, v)
			return
		}
		if q.TopicID != [16]byte{} {
			if t := image.TopicByID(q.TopicID); t != nil {
				if !seen[t.Name] {
					seen[t.Name] = true
					resp.Topics = append(resp.Topics, f.topicMetadata(t, req, v))
				}
				continue
			}
			if unknown[q.TopicID] {
				continue
			}
			unknown[q.TopicID] = true
			mt := kmsg.NewMetadataResponseTopic()
			mt.TopicID, mt.ErrorCode = q.TopicID, int16(wire.UnknownTopicId)
			resp.Topics = append(resp.Topics, mt)
			continue
		}
		if byID || seen[*q.Topic] {
			continue
		}
		name := *q.Topic
		seen[name] = true
		if t := image.Topic(name); t != nil {
			resp.Topics = append(resp.Topics, f.topicMetadata(t, req, v))
			continue
		}
		mt := f.unknownTopic(name, req, v)
		if mt.ErrorCode == int16(wire.UnknownTopicOrPartition) && mayCreate {
			missing = append(missing, name)
		}
		resp.Topics = append(resp.Topics, mt)
	}
	if len(missing) > 0 {
		f.node.AutoCreate(missing)
	}
}

// namesIDs tells whether a topic is asked for by id: then those that are not are left out, as in Kafka.
func namesIDs(req *kmsg.MetadataRequest) bool {
	for i := range req.Topics {
		if req.Topics[i].TopicID != [16]byte{} {
			return true
		}
	}
	return false
}

// refuseLookup answers look-ups by id at the versions that have the field but not the feature (v10, v11), and topics without
// name and id: an error for every topic asked for, and nothing else.
func refuseLookup(req *kmsg.MetadataRequest, resp *kmsg.MetadataResponse, version int16) {
	*resp = kmsg.NewMetadataResponse()
	code := wire.InvalidRequest
	if version >= 12 {
		// Kafka fails on a topic without name and id.
		code = wire.UnknownServerError
		resp.ErrorCode = int16(code) // v13
	}
	for i := range req.Topics {
		mt := kmsg.NewMetadataResponseTopic()
		name := ""
		if req.Topics[i].Topic != nil {
			name = *req.Topics[i].Topic
		}
		mt.Topic, mt.TopicID, mt.ErrorCode = &name, req.Topics[i].TopicID, int16(code)
		resp.Topics = append(resp.Topics, mt)
	}
}

// unknownTopic is the entry of a name that no topic has.
func (f *Frontend) unknownTopic(name string, req *kmsg.MetadataRequest, version int16) kmsg.MetadataResponseTopic {
	mt := kmsg.NewMetadataResponseTopic()
	mt.Topic, mt.IsInternal = &name, controller.InternalTopic(name)
	mt.ErrorCode = int16(wire.UnknownTopicOrPartition)
	if controller.CheckTopicName(name) != "" {
		mt.ErrorCode = int16(wire.InvalidTopicException)
	}
	if req.IncludeTopicAuthorizedOperations && version >= 8 {
		mt.AuthorizedOperations = topicOperations
	}
	return mt
}

func (f *Frontend) topicMetadata(t *controller.Topic, req *kmsg.MetadataRequest, version int16) kmsg.MetadataResponseTopic {
	mt := kmsg.NewMetadataResponseTopic()
	name := t.Name
	mt.Topic, mt.TopicID, mt.IsInternal = &name, t.ID, t.Internal
	if req.IncludeTopicAuthorizedOperations && version >= 8 {
		mt.AuthorizedOperations = topicOperations
	}
	mt.Partitions = make([]kmsg.MetadataResponseTopicPartition, len(t.Partitions))
	for i := range t.Partitions {
		p, mp := &t.Partitions[i], &mt.Partitions[i]
		*mp = kmsg.NewMetadataResponseTopicPartition()
		mp.Partition = int32(i)
		mp.Leader, mp.LeaderEpoch, mp.Replicas, mp.ISR = f.leaderOf(t, p, int32(i)), p.LeaderEpoch, p.Replicas, p.ISR
		if mp.Leader < 0 {
			mp.ErrorCode = int16(wire.LeaderNotAvailable)
		}
	}
	return mt
}

// leaderOf is the leader that may be told to clients: ours only when it can take writes.
func (f *Frontend) leaderOf(t *controller.Topic, p *controller.Partition, index int32) int32 {
	if p.Leader != f.node.ID() {
		return p.Leader
	}
	h := f.node.TopicByID(t.ID)
	if h == nil {
		return controller.NoLeader
	}
	if part := h.Partition(index); part == nil || part.Bounds().LeaderEpoch < p.LeaderEpoch || part.Err() != nil {
		return controller.NoLeader
	}
	return p.Leader
}

// describeCluster answers DescribeCluster, versions 0 to 2.
func (f *Frontend) describeCluster(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DescribeClusterRequest)
	resp := kmsg.NewPtrDescribeClusterResponse()
	if r.hdr.Version >= 1 && req.EndpointType != 1 {
		code := wire.UnsupportedEndpointType
		if req.EndpointType == 2 {
			code = wire.MismatchedEndpointType
		}
		text := "this listener has brokers only: ask for endpoint type 1"
		resp.ErrorCode, resp.ErrorMessage = int16(code), &text
		return resp
	}
	image := f.node.Image()
	resp.ClusterID, resp.ControllerID = image.ClusterID(), f.node.ID()
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	for _, b := range image.Brokers() {
		if b.Fenced && !req.IncludeFencedBrokers {
			continue
		}
		db := kmsg.NewDescribeClusterResponseBroker()
		db.NodeID, db.IsFenced = b.ID, b.Fenced
		db.Host, db.Port = f.endpointOf(b, r.conn.nc.Info().Listener)
		if b.Rack != "" {
			db.Rack = &b.Rack
		}
		resp.Brokers = append(resp.Brokers, db)
	}
	sort.Slice(resp.Brokers, func(i, j int) bool { return resp.Brokers[i].NodeID < resp.Brokers[j].NodeID })
	return resp
}
