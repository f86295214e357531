package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/engine"
	"millrace/kafka/wire"
)

// describeLogDirs answers DescribeLogDirs, versions 1 to 5: the log directories with the partitions in them. A worker
// does it, for the file system is asked for its space.
func (f *Frontend) describeLogDirs(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DescribeLogDirsRequest)
	resp := kmsg.NewPtrDescribeLogDirsResponse()
	r.conn.ls.loop.Offload(func() {
		wanted := wantedPartitions(req)
		inDir := map[string][]*engine.Partition{}
		for _, p := range f.node.Engine().Partitions() {
			if f.describable(p) && wanted(p) {
				inDir[p.LogDir()] = append(inDir[p.LogDir()], p)
			}
		}
		for _, d := range f.node.Engine().Dirs() {
			resp.Dirs = append(resp.Dirs, logDir(&d, inDir[d.Path]))
		}
	}, func() { r.respond(resp) })
	return nil
}

// describable leaves out what is on its way out, and strays.
func (f *Frontend) describable(p *engine.Partition) bool {
	t := f.node.TopicByID(p.TopicID())
	return t != nil && t.Name == p.Topic() && p.Err() != engine.ErrDeleted
}

// wantedPartitions tells which partitions are asked for: all if the list is null.
func wantedPartitions(req *kmsg.DescribeLogDirsRequest) func(*engine.Partition) bool {
	if req.Topics == nil {
		return func(*engine.Partition) bool { return true }
	}
	named := map[topicPartition]bool{}
	for i := range req.Topics {
		for _, index := range req.Topics[i].Partitions {
			named[topicPartition{req.Topics[i].Topic, index}] = true
		}
	}
	return func(p *engine.Partition) bool { return named[topicPartition{p.Topic(), p.Index()}] }
}

// logDir describes a directory with partitions that are ordered by topic. Of a dead one nothing is known.
func logDir(d *engine.DirInfo, parts []*engine.Partition) kmsg.DescribeLogDirsResponseDir {
	out := kmsg.NewDescribeLogDirsResponseDir()
	out.Dir = d.Path
	if d.Err != nil {
		out.ErrorCode = int16(wire.KafkaStorageError)
		return out
	}
	if d.TotalBytes > 0 {
		out.TotalBytes, out.UsableBytes = int64(d.TotalBytes), int64(d.FreeBytes)
	}
	for _, p := range parts {
		if n := len(out.Topics); n == 0 || out.Topics[n-1].Topic != p.Topic() {
			t := kmsg.NewDescribeLogDirsResponseDirTopic()
			t.Topic = p.Topic()
			out.Topics = append(out.Topics, t)
		}
		t := &out.Topics[len(out.Topics)-1]
		one := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		one.Partition, one.Size = p.Index(), p.Size()
		t.Partitions = append(t.Partitions, one)
	}
	return out
}
