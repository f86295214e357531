package producer

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/bench/rawgen"
)

// cluster says which broker leads which partition.
type cluster struct {
	leaders []int    // per partition: index of addrs
	addrs   []string // of the brokers that lead any
}

// resolve asks any broker for the leaders of a topic's partitions.
func resolve(addr, topic string) (*cluster, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 5
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, mt)
	resp := kmsg.NewPtrMetadataResponse()
	if err := rawgen.Call(addr, req, resp, 10*time.Second); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 || len(resp.Topics[0].Partitions) == 0 {
		return nil, fmt.Errorf("metadata of %s: %+v", topic, resp.Topics)
	}
	byID := map[int32]string{}
	for _, b := range resp.Brokers {
		byID[b.NodeID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	c := &cluster{leaders: make([]int, len(resp.Topics[0].Partitions))}
	index := map[int32]int{}
	for i := range c.leaders {
		c.leaders[i] = -1
	}
	for _, p := range resp.Topics[0].Partitions {
		at, ok := byID[p.Leader]
		if !ok || p.Partition < 0 || int(p.Partition) >= len(c.leaders) {
			return nil, fmt.Errorf("partition %d of %s has no leader (%d)", p.Partition, topic, p.Leader)
		}
		if _, ok := index[p.Leader]; !ok {
			index[p.Leader] = len(c.addrs)
			c.addrs = append(c.addrs, at)
		}
		c.leaders[p.Partition] = index[p.Leader]
	}
	for p, l := range c.leaders {
		if l < 0 {
			return nil, fmt.Errorf("partition %d of %s is not answered", p, topic)
		}
	}
	return c, nil
}
