package kafkatool

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
)

func (g *groupCommand) describe() error {
	ids, err := g.ids()
	if err != nil {
		return err
	}
	var infos []*groupInfo
	for _, id := range ids { // all of them before the first table, so that of a missing one only the error shows
		info, err := describeGroup(g.ctx, g.cl, id)
		if err != nil {
			return err
		}
		if info.missing != nil {
			return info.missing
		}
		infos = append(infos, info)
	}
	for _, info := range infos {
		switch {
		case g.v.Has("members"):
			g.printMembers(info)
		case g.v.Has("state"):
			err = g.printState(info)
		default:
			err = g.printOffsets(info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// worth tells on stderr what there is to say of the group's state and reports whether a table is printed for so many rows.
func (g *groupCommand) worth(info *groupInfo, rows int) bool {
	switch info.state {
	case "Dead":
		g.e.println("\nError: Consumer group '%s' does not exist.", info.id)
		return false
	case "Empty":
		g.e.complain("\nConsumer group '%s' has no active members.", info.id)
		return rows > 0
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
		g.e.complain("\nWarning: Consumer group '%s' is rebalancing.", info.id)
		return rows > 0
	}
	return rows > 0
}

// offsetRow is one partition of a described group.
type offsetRow struct {
	tp     topicPartition
	member *memberInfo
}

// offsetRows are the partitions of members, those with most partitions first, and then those with a commit and no owner.
func offsetRows(info *groupInfo, done map[topicPartition]committed) []offsetRow {
	members := make([]*memberInfo, 0, len(info.members))
	for i := range info.members {
		if info.members[i].count() > 0 {
			members = append(members, &info.members[i])
		}
	}
	slices.SortStableFunc(members, func(a, b *memberInfo) int {
		if d := b.count() - a.count(); d != 0 {
			return d
		}
		return strings.Compare(a.id, b.id)
	})
	var rows []offsetRow
	owned := map[topicPartition]bool{}
	for _, m := range members {
		var parts []offsetRow
		for t, list := range m.assigned {
			for _, p := range list {
				owned[topicPartition{t, p}] = true
				parts = append(parts, offsetRow{topicPartition{t, p}, m})
			}
		}
		rows = append(rows, sortRows(parts)...)
	}
	var rest []offsetRow
	for tp := range done {
		if !owned[tp] {
			rest = append(rest, offsetRow{tp, nil})
		}
	}
	return append(rows, sortRows(rest)...)
}

func sortRows(rows []offsetRow) []offsetRow {
	slices.SortFunc(rows, func(a, b offsetRow) int { return comparePartitions(a.tp, b.tp) })
	return rows
}

func (g *groupCommand) printOffsets(info *groupInfo) error {
	done, err := committedOffsets(g.ctx, g.cl, info.id)
	if err != nil {
		return err
	}
	rows := offsetRows(info, done)
	if !g.worth(info, len(rows)) {
		return nil
	}
	parts := make([]topicPartition, len(rows))
	for i, r := range rows {
		parts[i] = r.tp
	}
	ends, err := listOffsets(g.ctx, g.cl, parts, -1)
	if err != nil {
		return err
	}
	header := []string{"GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"}
	least := map[int]int{0: 15, 1: 15, 2: 10, 3: 15, 4: 15, 5: 15, 6: 15, 7: 15}
	verbose := g.v.Has("verbose")
	if verbose {
		header = slices.Insert(header, 3, "LEADER-EPOCH")
		least = map[int]int{0: 15, 1: 15, 2: 10, 3: 15, 4: 15, 5: 15, 6: 15, 7: 15, 8: 15}
	}
	var table [][]string
	for _, r := range rows {
		current, epoch, end, lag := "-", "-", "-", "-"
		c, has := done[r.tp]
		if has {
			current = strconv.FormatInt(c.offset, 10)
			if c.epoch >= 0 {
				epoch = strconv.Itoa(int(c.epoch))
			}
		}
		if e, ok := ends[r.tp]; ok && e.err == nil {
			end = strconv.FormatInt(e.offset, 10)
			if has {
				lag = strconv.FormatInt(e.offset-c.offset, 10)
			}
		}
		id, host, client := "-", "-", "-"
		if r.member != nil {
			id, host, client = r.member.id, r.member.host, r.member.client
		}
		line := []string{info.id, r.tp.topic, strconv.Itoa(int(r.tp.partition)), current, end, lag, id, host, client}
		if verbose {
			line = slices.Insert(line, 3, epoch)
		}
		table = append(table, line)
	}
	g.e.println("")
	g.e.table(header, table, least)
	return nil
}

func (g *groupCommand) printMembers(info *groupInfo) {
	g.worth(info, len(info.members))
	instances := slices.ContainsFunc(info.members, func(m memberInfo) bool { return m.instance != "" })
	verbose := g.v.Has("verbose")
	header := []string{"GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"}
	widths := []int{15, 15, 15, 15, 15}
	if instances {
		header, widths = slices.Insert(header, 2, "GROUP-INSTANCE-ID"), slices.Insert(widths, 2, 17)
	}
	if verbose {
		header = append(header, "CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT")
		widths = append(widths, 15, 20, 15, 20)
	}
	has := func(kind int8) bool {
		return info.consumer && slices.ContainsFunc(info.members, func(m memberInfo) bool { return m.kind == kind })
	}
	moving := verbose && has(classicMember) && has(consumerMember) // from one protocol to the other
	if moving {
		header, widths = append(header, "UPGRADED"), append(widths, 0)
	}
	var table [][]string
	for i := range info.members {
		m := &info.members[i]
		line := []string{info.id, m.id, m.host, m.client, strconv.Itoa(m.count())}
		if instances {
			line = slices.Insert(line, 2, m.instance)
		}
		if verbose {
			epoch, targetEpoch, target := "-", "-", "-"
			if info.consumer {
				epoch, targetEpoch, target = strconv.Itoa(int(m.epoch)), strconv.Itoa(int(info.target)), assignmentWords(m.target)
			}
			line = append(line, epoch, assignmentWords(m.assigned), targetEpoch, target)
		}
		if moving {
			line = append(line, strconv.FormatBool(m.kind == consumerMember))
		}
		table = append(table, line)
	}
	least := map[int]int{}
	for i, w := range widths {
		least[i] = w
	}
	if !moving { // the last column is padded too, unless it is UPGRADED; without --verbose a space follows
		last := len(header) - 1
		end, width := " ", widths[last]
		if verbose {
			end = ""
		}
		lines := append([][]string{header}, table...)
		for _, line := range lines {
			width = max(width, len(line[last]))
		}
		for _, line := range lines {
			line[last] = fmt.Sprintf("%-*s", width, line[last]) + end
		}
	}
	g.e.println("")
	g.e.table(header, table, least)
}

// assignmentWords shows partitions by topic, as topic:0,1.
func assignmentWords(a map[string][]int32) string {
	if len(a) == 0 {
		return "-"
	}
	var parts []string
	for t, list := range a {
		list = slices.Clone(list)
		slices.Sort(list)
		parts = append(parts, t+":"+joinInts(list))
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

func (g *groupCommand) printState(info *groupInfo) error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = info.id, []string{info.id}
	resp, err := request[*kmsg.FindCoordinatorResponse](g.ctx, g.cl, req)
	if err != nil {
		return err
	}
	id, host, port, code := resp.NodeID, resp.Host, resp.Port, resp.ErrorCode
	if len(resp.Coordinators) > 0 {
		c := &resp.Coordinators[0]
		id, host, port, code = c.NodeID, c.Host, c.Port, c.ErrorCode
	}
	if err := conn.Code(code, nil); err != nil {
		return err
	}
	if info.missing != nil {
		return errors.New("the group is gone")
	}
	g.worth(info, 1)
	coordinator := net.JoinHostPort(host, strconv.Itoa(int(port))) + fmt.Sprintf("  (%d)", id)
	strategy := info.strategy
	if strategy == "" {
		strategy = "-"
	}
	header := []string{"GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"}
	line := []string{info.id, coordinator, strategy, info.state, strconv.Itoa(len(info.members))}
	least := map[int]int{0: 15, 1: 25, 2: 20, 3: 20}
	if g.v.Has("verbose") {
		epoch, target := "-", "-"
		if info.consumer {
			epoch, target = strconv.Itoa(int(info.epoch)), strconv.Itoa(int(info.target))
		}
		header, line = slices.Insert(header, 4, "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"), slices.Insert(line, 4, epoch, target)
		least = map[int]int{0: 15, 1: 25, 2: 20, 3: 20, 4: 15, 5: 25}
	}
	g.e.println("")
	g.e.table(header, [][]string{line}, least)
	return nil
}
