package kafkatool

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrNoGroup says that a group does not exist.
var ErrNoGroup = errors.New("no such group")

// GroupListing is one group of a list.
type GroupListing struct {
	Group string `json:"group"`
	Type  string `json:"type"`
	State string `json:"state"`
}

// ListGroups lists the consumer groups of all brokers, by name.
func ListGroups(ctx context.Context, cl *kgo.Client) ([]GroupListing, error) {
	list, err := listGroups(ctx, cl, nil, nil)
	if err != nil {
		return nil, err
	}
	out := []GroupListing{}
	for _, g := range list {
		kind := g.GroupType
		if kind == "" {
			kind = "classic"
		}
		out = append(out, GroupListing{g.Group, kind, g.GroupState})
	}
	return out, nil
}

// GroupDetails is a described group, whichever protocol it speaks.
type GroupDetails struct {
	Group      string           `json:"group"`
	Type       string           `json:"type"`
	State      string           `json:"state"`
	Assignor   string           `json:"assignor,omitempty"`
	Members    int              `json:"members"`
	Lag        *int64           `json:"lag"` // of the partitions with a commit; nil where there is none
	Partitions []GroupPartition `json:"partitions"`
}

// GroupPartition is a partition that the group owns or has a commit for; what is not known is nil or empty.
type GroupPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    *int64 `json:"offset"`
	End       *int64 `json:"endOffset"`
	Lag       *int64 `json:"lag"`
	Member    string `json:"member,omitempty"`
	Host      string `json:"host,omitempty"`
	ClientID  string `json:"clientId,omitempty"`
}

// DescribeGroup describes one group.
func DescribeGroup(ctx context.Context, cl *kgo.Client, id string) (*GroupDetails, error) {
	info, err := describeGroup(ctx, cl, id)
	if err != nil {
		return nil, err
	}
	if info.missing != nil {
		return nil, ErrNoGroup
	}
	done, err := committedOffsets(ctx, cl, id)
	if err != nil {
		return nil, err
	}
	rows := offsetRows(info, done)
	parts := make([]topicPartition, len(rows))
	for i, r := range rows {
		parts[i] = r.tp
	}
	ends, err := listOffsets(ctx, cl, parts, -1)
	if err != nil {
		return nil, err
	}
	out := &GroupDetails{Group: id, Type: "classic", State: info.state, Assignor: info.strategy, Members: len(info.members), Partitions: []GroupPartition{}}
	if info.consumer {
		out.Type = "consumer"
	}
	for _, r := range rows {
		p := GroupPartition{Topic: r.tp.topic, Partition: r.tp.partition}
		c, has := done[r.tp]
		if has {
			p.Offset = &c.offset
		}
		if e, ok := ends[r.tp]; ok && e.err == nil {
			p.End = &e.offset
			if has {
				lag := e.offset - c.offset
				p.Lag = &lag
				if out.Lag == nil {
					out.Lag = new(int64)
				}
				*out.Lag += lag
			}
		}
		if r.member != nil {
			p.Member, p.Host, p.ClientID = r.member.id, r.member.host, r.member.client
		}
		out.Partitions = append(out.Partitions, p)
	}
	return out, nil
}
