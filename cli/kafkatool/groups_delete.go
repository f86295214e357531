package kafkatool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
)

func (g *groupCommand) delete() error {
	ids, err := g.ids()
	if err != nil {
		return err
	}
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = ids
	resp, err := request[*kmsg.DeleteGroupsResponse](g.ctx, g.cl, req)
	if err != nil {
		return err
	}
	var done, failed []string
	for i := range resp.Groups {
		r := &resp.Groups[i]
		if err := conn.Code(r.ErrorCode, nil); err != nil {
			failed = append(failed, fmt.Sprintf("* Group '%s' could not be deleted due to: %s: %s", r.Group, conn.Class(err), err))
		} else {
			done = append(done, r.Group)
		}
	}
	slices.Sort(done)
	slices.Sort(failed)
	if len(failed) == 0 {
		names := ""
		if len(done) > 0 {
			names = "'" + strings.Join(done, "', '") + "'"
		}
		g.e.println("Deletion of requested consumer groups (%s) was successful.", names)
		return nil
	}
	g.e.println("\nError: Deletion of some consumer groups failed:\n%s", strings.Join(failed, "\n"))
	if len(done) > 0 {
		g.e.println("\nThese consumer groups were deleted successfully: '%s'", strings.Join(done, "', '"))
	}
	return nil
}

// topicArgs reads --topic: a name, or a name with partitions. A topic without partitions gets all it has; one that does not exist gets none.
func (g *groupCommand) topicArgs() (parts []topicPartition, unknown []string, err error) {
	var whole []string
	for _, arg := range g.v.All("topic") {
		topic, list, some := strings.Cut(arg, ":")
		if !some {
			whole = append(whole, topic)
			continue
		}
		for _, w := range strings.Split(list, ",") {
			n, err := strconv.ParseInt(w, 10, 32)
			if err != nil {
				return nil, nil, usagef("Invalid partition '%s' in '%s'", w, arg)
			}
			parts = append(parts, topicPartition{topic, int32(n)})
		}
	}
	if len(whole) == 0 {
		slices.SortFunc(parts, compareNames)
		return slices.Compact(parts), nil, nil
	}
	md, err := metadata(g.e, g.cl, whole)
	if err != nil {
		return nil, nil, err
	}
	for i := range md.Topics {
		t := &md.Topics[i]
		if t.ErrorCode != 0 || t.Topic == nil {
			unknown = append(unknown, deref(t.Topic))
			continue
		}
		for _, p := range t.Partitions {
			parts = append(parts, topicPartition{*t.Topic, p.Partition})
		}
	}
	slices.SortFunc(parts, compareNames)
	return slices.Compact(parts), unknown, nil
}

func (g *groupCommand) deleteOffsets() error {
	id, err := g.v.Get("group")
	if err != nil {
		return usagef("%s", err)
	}
	parts, unknown, err := g.topicArgs()
	if err != nil {
		return err
	}
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = id
	for _, p := range parts {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != p.topic {
			t := kmsg.NewOffsetDeleteRequestTopic()
			t.Topic = p.topic
			req.Topics = append(req.Topics, t)
		}
		rp := kmsg.NewOffsetDeleteRequestTopicPartition()
		rp.Partition = p.partition
		last := &req.Topics[len(req.Topics)-1]
		last.Partitions = append(last.Partitions, rp)
	}
	resp, err := request[*kmsg.OffsetDeleteResponse](g.ctx, g.cl, req)
	if err != nil {
		return err
	}
	status := map[topicPartition]error{}
	partial := false
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			err := conn.Code(p.ErrorCode, nil)
			status[topicPartition{t.Topic, p.Partition}] = err
			partial = partial || err != nil
		}
	}
	whole := conn.Code(resp.ErrorCode, nil)
	switch {
	case whole != nil:
		g.e.println("\nError: %s", groupErrorWords(id, resp.ErrorCode, whole))
	case partial:
		g.e.println("\nError: Encountered some partition-level error, see the follow-up details.")
	default:
		g.e.println("Request succeeded for deleting offsets from group %s.", id)
	}
	width := 15
	for _, p := range parts {
		width = max(width, len(p.topic))
	}
	for _, t := range unknown {
		width = max(width, len(t))
	}
	row := func(topic, partition, status string) {
		g.e.println("%-*s %-10s %-15s", width, topic, partition, status)
	}
	g.e.println("")
	row("TOPIC", "PARTITION", "STATUS")
	for _, p := range parts {
		err := status[p]
		if whole != nil {
			err = whole
		}
		words := "Successful"
		if err != nil {
			words = fmt.Sprintf("Error: %s: %s", conn.Class(err), err)
		}
		row(p.topic, strconv.Itoa(int(p.partition)), words)
	}
	for _, t := range unknown {
		err := conn.Code(kerr.UnknownTopicOrPartition.Code, nil)
		row(t, "-", fmt.Sprintf("Error: %s: %s", conn.Class(err), err))
	}
	return nil
}

func groupErrorWords(id string, code int16, err error) string {
	switch code {
	case kerr.InvalidGroupID.Code:
		return fmt.Sprintf("'%s' is not valid.", id)
	case kerr.NonEmptyGroup.Code:
		return fmt.Sprintf("Deleting offsets of a consumer group '%s' is forbidden if the group is not empty.", id)
	}
	return err.Error()
}
