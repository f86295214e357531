package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"millrace/controller"
	"millrace/engine"
	"millrace/internal/config"
	"millrace/segment"
)

// A partition whose records were on this node and are not is offline, never new and empty: who finds nothing where
// records were believes that they were deleted. A partition was here if its leader epoch was raised at a start (before
// that, what has no directory yet gets one), if the last clean stop named it, or if its directory cannot be opened.

// errLost is why such a partition is offline.
var errLost = errors.New("the directory of its records is missing or cannot be opened; bring it back and start again, or delete the topic")

// partitionID names a partition beyond the life of its topic's name.
type partitionID struct {
	topic [16]byte
	index int32
}

// lostShown is how many lost partitions are logged one by one.
const lostShown = 10

// settleMissing looks for partitions that should be here and are not: those that never were are made, the others are
// noted as lost. It comes before leadership is taken.
func (n *Node) settleMissing(ctx context.Context) {
	image := n.Image()
	was := map[string]bool{}
	for _, name := range n.report.Gone {
		was[name] = true
	}
	for _, name := range n.report.Unopened {
		was[name] = true
	}
	n.lost = map[partitionID]bool{}
	var made sync.WaitGroup
	slots := make(chan struct{}, createParallel)
	for t := range image.Topics() {
		for i := range t.Partitions {
			p, index := &t.Partitions[i], int32(i)
			if !holds(p.Replicas, n.ID()) || n.engine.Lookup(t.Name, index) != nil {
				continue
			}
			if p.LeaderEpoch > 0 || was[segment.DirName(t.Name, index)] {
				n.noteLost(t, index)
				continue
			}
			slots <- struct{}{}
			made.Add(1)
			cfg := partitionConfig(n.Layers().Topic(config.Set(t.Configs)), t.Internal)
			n.engine.Create(engine.PartitionSpec{Topic: t.Name, TopicID: t.ID, Index: index, Config: cfg}, func(_ *engine.Partition, err error) {
				if err != nil {
					n.log.Error("a partition cannot be made", "partition", segment.DirName(t.Name, index), "error", err)
				}
				<-slots
				made.Done()
			})
		}
	}
	if len(n.lost) > 0 {
		n.log.Error(fmt.Sprintf("%d partitions are offline: %v", len(n.lost), errLost))
	}
	done := make(chan struct{})
	go func() { made.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (n *Node) noteLost(t *controller.Topic, index int32) {
	if len(n.lost) < lostShown {
		n.log.Error("a partition has lost its records and is offline", "partition", segment.DirName(t.Name, index), "topic_id", segment.FormatID(t.ID))
	}
	n.lost[partitionID{t.ID, index}] = true
}

// Lost tells whether a partition is offline because its records are missing. The set does not change after the start.
func (n *Node) Lost(topic [16]byte, index int32) bool { return n.lost[partitionID{topic, index}] }
