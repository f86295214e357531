package kafkatool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
)

// resetRow is a new offset of a group.
type resetRow struct {
	group string
	tp    topicPartition
	to    int64
}

func (g *groupCommand) reset() error {
	ids, err := g.ids()
	if err != nil {
		return err
	}
	if !g.v.HasAny(resetScenarios...) && g.v.HasAny("topic", "all-topics") {
		return usagef("Option '[reset-offsets]' requires one of the following scenarios: [[%s]]", strings.Join(resetScenarioOrder, "], ["))
	}
	var file map[string]map[topicPartition]int64
	if g.v.Has("from-file") {
		if file, err = g.readCSV(ids); err != nil {
			return err
		}
	}
	var rows []resetRow
	width := 15
	for _, id := range ids {
		width = max(width, len(id))
		got, err := g.resetGroup(id, file)
		if err != nil {
			return err
		}
		rows = append(rows, got...)
	}
	if g.v.Has("export") {
		return g.export(ids, rows)
	}
	g.e.println("")
	topicWidth := 15
	for _, r := range rows {
		topicWidth = max(topicWidth, len(r.tp.topic))
	}
	print := func(group, topic, partition, to string) {
		g.e.println("%-*s %-*s %-10s %s", width, group, topicWidth, topic, partition, to)
	}
	print("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")
	for _, r := range rows {
		print(r.group, r.tp.topic, strconv.Itoa(int(r.tp.partition)), strconv.FormatInt(r.to, 10))
	}
	return nil
}

func (g *groupCommand) resetGroup(id string, file map[string]map[topicPartition]int64) ([]resetRow, error) {
	info, err := describeGroup(g.ctx, g.cl, id)
	if err != nil {
		return nil, err
	}
	if info.state != "Empty" && info.state != "Dead" {
		g.e.println("\nError: Assignments can only be reset if the group '%s' is inactive, but the current state is %s.", id, info.state)
		return nil, nil
	}
	done := map[topicPartition]committed{}
	if info.missing == nil {
		if done, err = committedOffsets(g.ctx, g.cl, id); err != nil {
			return nil, err
		}
	}
	var parts []topicPartition
	if file == nil {
		if parts, err = g.partitionsToReset(done); err != nil {
			return nil, err
		}
	}
	to, err := g.target(parts, done, file[id])
	if err != nil {
		return nil, err
	}
	rows := make([]resetRow, 0, len(to))
	for tp, o := range to {
		rows = append(rows, resetRow{id, tp, o})
	}
	slices.SortFunc(rows, func(a, b resetRow) int { return comparePartitions(a.tp, b.tp) })
	if g.v.Has("execute") && !g.v.Has("dry-run") {
		if err := g.commit(id, rows); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (g *groupCommand) partitionsToReset(done map[topicPartition]committed) ([]topicPartition, error) {
	if g.v.Has("all-topics") {
		var parts []topicPartition
		for tp := range done {
			parts = append(parts, tp)
		}
		slices.SortFunc(parts, comparePartitions)
		return parts, nil
	}
	if !g.v.Has("topic") {
		return nil, usagef("One of the reset scopes should be defined: --all-topics, --topic.")
	}
	parts, unknown, err := g.topicArgs()
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 && g.e.own {
		return nil, fmt.Errorf("topic %s: %w", strings.Join(unknown, ", "), ErrNotThere)
	}
	if len(unknown) > 0 {
		err := conn.Code(kerr.UnknownTopicOrPartition.Code, nil)
		return nil, &groupFailure{err.Error(), conn.Class(err) + ": " + err.Error()}
	}
	var topics []string
	for _, p := range parts {
		topics = append(topics, p.topic)
	}
	md, err := metadata(g.e, g.cl, slices.Compact(topics))
	if err != nil {
		return nil, err
	}
	exists := map[topicPartition]bool{}
	for i := range md.Topics {
		for _, p := range md.Topics[i].Partitions {
			exists[topicPartition{deref(md.Topics[i].Topic), p.Partition}] = true
		}
	}
	var missing []string
	for _, p := range parts {
		if !exists[p] {
			missing = append(missing, fmt.Sprintf("%s-%d", p.topic, p.partition))
		}
	}
	if len(missing) > 0 {
		if g.e.own {
			return nil, fmt.Errorf("partition %s: %w", strings.Join(missing, ", "), ErrNotThere)
		}
		words := fmt.Sprintf("The partitions \"%s\" do not exist", strings.Join(missing, ","))
		return nil, &groupFailure{words, "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: " + words}
	}
	return parts, nil
}

// export writes CSV: topic,partition,offset, with the group before it where there are several. It ends with an empty line.
func (g *groupCommand) export(ids []string, rows []resetRow) error {
	for _, r := range rows {
		if len(ids) > 1 {
			g.e.println("%s,%s,%d,%d", csvField(r.group), csvField(r.tp.topic), r.tp.partition, r.to)
		} else {
			g.e.println("%s,%d,%d", csvField(r.tp.topic), r.tp.partition, r.to)
		}
	}
	g.e.println("")
	return nil
}

func csvField(s string) string {
	if strings.ContainsAny(s, ",\" \n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// readCSV reads what export writes.
func (g *groupCommand) readCSV(ids []string) (map[string]map[topicPartition]int64, error) {
	path := g.v.Str("from-file")
	data, err := os.ReadFile(path)
	if err != nil {
		words := "Unable to read file " + path
		if !errors.Is(err, fs.ErrNotExist) {
			words = err.Error()
		}
		return nil, &groupFailure{"java.io.IOException: " + words, "java.lang.RuntimeException: java.io.IOException: " + words}
	}
	out := map[string]map[topicPartition]int64{}
	for _, id := range ids {
		out[id] = map[topicPartition]int64{}
	}
	for n, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		fields := strings.Split(strings.TrimSpace(line), ",")
		for i := range fields {
			fields[i] = strings.Trim(strings.TrimSpace(fields[i]), `"`)
		}
		id := ""
		if len(ids) == 1 && len(fields) == 3 {
			id = ids[0]
		} else if len(fields) == 4 {
			id, fields = fields[0], fields[1:]
		} else {
			return nil, &groupFailure{words: fmt.Sprintf("%s: line %d: %q is not [group,]topic,partition,offset", path, n+1, line)}
		}
		p, perr := strconv.ParseInt(fields[1], 10, 32)
		o, oerr := strconv.ParseInt(fields[2], 10, 64)
		if perr != nil || oerr != nil {
			return nil, &groupFailure{words: fmt.Sprintf("%s: line %d: %q is not [group,]topic,partition,offset", path, n+1, line)}
		}
		if out[id] != nil {
			out[id][topicPartition{fields[0], int32(p)}] = o
		}
	}
	return out, nil
}

// commit writes offsets for a group without members.
func (g *groupCommand) commit(id string, rows []resetRow) error {
	p := newProgress(g.e, "offsets written", int64(len(rows)))
	defer p.done()
	ids, err := g.topicIDs(rows)
	if err != nil {
		return err
	}
	const atOnce = 1000
	for len(rows) > 0 {
		some := rows[:min(atOnce, len(rows))]
		rows = rows[len(some):]
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Group, req.Generation = id, -1
		for _, r := range some {
			if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != r.tp.topic {
				t := kmsg.NewOffsetCommitRequestTopic()
				t.Topic, t.TopicID = r.tp.topic, ids[r.tp.topic]
				req.Topics = append(req.Topics, t)
			}
			rp := kmsg.NewOffsetCommitRequestTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata = r.tp.partition, r.to, -1, kmsg.StringPtr("")
			last := &req.Topics[len(req.Topics)-1]
			last.Partitions = append(last.Partitions, rp)
		}
		resp, err := request[*kmsg.OffsetCommitResponse](g.ctx, g.cl, req)
		if err != nil {
			return err
		}
		for _, t := range resp.Topics {
			for _, part := range t.Partitions {
				if err := conn.Code(part.ErrorCode, nil); err != nil {
					return err
				}
			}
		}
		p.add(int64(len(some)))
	}
	return nil
}

// topicIDs finds the ids that OffsetCommit names topics by since version 10.
func (g *groupCommand) topicIDs(rows []resetRow) (map[string][16]byte, error) {
	var names []string
	for _, r := range rows {
		names = append(names, r.tp.topic)
	}
	slices.Sort(names)
	md, err := metadata(g.e, g.cl, slices.Compact(names))
	if err != nil {
		return nil, err
	}
	out := map[string][16]byte{}
	for i := range md.Topics {
		out[deref(md.Topics[i].Topic)] = md.Topics[i].TopicID
	}
	return out, nil
}
