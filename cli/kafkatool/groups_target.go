package kafkatool

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const groupsClass = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"

// target computes the new offsets of one group.
func (g *groupCommand) target(parts []topicPartition, done map[topicPartition]committed, file map[topicPartition]int64) (map[topicPartition]int64, error) {
	switch {
	case g.v.Has("from-file"):
		return g.clamp(file)
	case g.v.Has("to-offset"):
		to, err := g.v.Int64("to-offset", 0)
		if err != nil {
			return nil, usagef("%s", err)
		}
		want := map[topicPartition]int64{}
		for _, p := range parts {
			want[p] = to
		}
		return g.clamp(want)
	case g.v.Has("to-earliest"):
		return g.listedAt(parts, -2)
	case g.v.Has("to-latest"):
		return g.listedAt(parts, -1)
	case g.v.Has("shift-by"):
		return g.shift(parts, done)
	case g.v.Has("to-datetime"):
		t, err := parseDatetime(g.v.Str("to-datetime"))
		if err != nil {
			words := "java.text.ParseException: " + err.Error()
			return nil, &groupFailure{words, "java.lang.RuntimeException: " + words}
		}
		return g.listedFrom(parts, t.UnixMilli())
	case g.v.Has("by-duration"):
		d, err := parseDuration(g.v.Str("by-duration"))
		if err != nil {
			return nil, &groupFailure{err.Error(), "java.time.format.DateTimeParseException: " + err.Error()}
		}
		return g.listedFrom(parts, time.Now().Add(-d).UnixMilli())
	case g.v.Has("to-current"):
		return g.current(parts, done)
	}
	return nil, usagef("Option '[reset-offsets]' requires one of the following scenarios: [[%s]]", strings.Join(resetScenarioOrder, "], ["))
}

func (g *groupCommand) listedAt(parts []topicPartition, ms int64) (map[topicPartition]int64, error) {
	got, err := listOffsets(g.ctx, g.cl, parts, ms)
	if err != nil {
		return nil, err
	}
	out := map[topicPartition]int64{}
	for _, p := range parts {
		l, ok := got[p]
		switch {
		case !ok:
			return nil, fmt.Errorf("no answer for partition %s-%d", p.topic, p.partition)
		case l.err != nil:
			return nil, l.err
		}
		out[p] = l.offset
	}
	return out, nil
}

// listedFrom finds the first message not older than ms, or the end.
func (g *groupCommand) listedFrom(parts []topicPartition, ms int64) (map[topicPartition]int64, error) {
	out, err := g.listedAt(parts, ms)
	if err != nil {
		return nil, err
	}
	var none []topicPartition
	for _, p := range parts {
		if out[p] < 0 {
			if g.e.own {
				g.e.complain("millrace: %s-%d has no message from then on: its end is taken", p.topic, p.partition)
			} else {
				g.e.println("\nWarn: Partition %d from topic %s is empty. Falling back to latest known offset.", p.partition, p.topic)
			}
			none = append(none, p)
		}
	}
	ends, err := g.listedAt(none, -1)
	if err != nil {
		return nil, err
	}
	for p, o := range ends {
		out[p] = o
	}
	return out, nil
}

func (g *groupCommand) shift(parts []topicPartition, done map[topicPartition]committed) (map[topicPartition]int64, error) {
	by, err := g.v.Int64("shift-by", 0)
	if err != nil {
		return nil, usagef("%s", err)
	}
	want := map[topicPartition]int64{}
	for _, p := range parts {
		c, ok := done[p]
		if !ok {
			return nil, usagef("Cannot shift offset for partition %s-%d since there is no current committed offset", p.topic, p.partition)
		}
		want[p] = c.offset + by
	}
	return g.clamp(want)
}

func (g *groupCommand) current(parts []topicPartition, done map[topicPartition]committed) (map[topicPartition]int64, error) {
	out := map[topicPartition]int64{}
	var none []topicPartition
	for _, p := range parts {
		if c, ok := done[p]; ok {
			out[p] = c.offset
		} else {
			none = append(none, p)
		}
	}
	ends, err := g.listedAt(none, -1)
	if err != nil {
		return nil, err
	}
	for p, o := range ends {
		out[p] = o
	}
	return out, nil
}

// clamp moves offsets that a log does not have to its nearer end.
func (g *groupCommand) clamp(want map[topicPartition]int64) (map[topicPartition]int64, error) {
	parts := make([]topicPartition, 0, len(want))
	for p := range want {
		parts = append(parts, p)
	}
	if err := g.exist(parts); err != nil {
		return nil, err
	}
	starts, err := g.listedAt(parts, -2)
	if err != nil {
		return nil, err
	}
	ends, err := g.listedAt(parts, -1)
	if err != nil {
		return nil, err
	}
	out := map[topicPartition]int64{}
	for p, o := range want {
		switch {
		case o > ends[p]:
			g.e.logLine("WARN", fmt.Sprintf("New offset (%d) is higher than latest offset for topic partition %s-%d. Value will be set to %d.", o, p.topic, p.partition, ends[p]), groupsClass)
			o = ends[p]
		case o < starts[p]:
			g.e.logLine("WARN", fmt.Sprintf("New offset (%d) is lower than earliest offset for topic partition %s-%d. Value will be set to %d.", o, p.topic, p.partition, starts[p]), groupsClass)
			o = starts[p]
		}
		out[p] = o
	}
	return out, nil
}

// exist refuses topics that there are not; only a CSV file can name them.
func (g *groupCommand) exist(parts []topicPartition) error {
	if !g.v.Has("from-file") || len(parts) == 0 {
		return nil
	}
	var topics []string
	for _, p := range parts {
		topics = append(topics, p.topic)
	}
	md, err := metadata(g.e, g.cl, topics)
	if err != nil {
		return err
	}
	for i := range md.Topics {
		if t := &md.Topics[i]; t.ErrorCode != 0 {
			for _, p := range parts {
				if p.topic == deref(t.Topic) {
					words := fmt.Sprintf("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Failed to fetch metadata for partition %s-%d because metadata for topic `%s` could not be found", p.topic, p.partition, p.topic)
					return &groupFailure{words: "java.util.concurrent.ExecutionException: " + words, trace: "java.lang.RuntimeException: java.util.concurrent.ExecutionException: " + words}
				}
			}
		}
	}
	return nil
}

// parseDatetime reads ISO 8601 as Kafka's tools do: seconds with or without milliseconds, UTC unless a zone is named.
func parseDatetime(text string) (time.Time, error) {
	_, clock, ok := strings.Cut(text, "T")
	if !ok {
		return time.Time{}, errors.New("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
	}
	if !strings.ContainsAny(clock, "+-Z") {
		text += "Z"
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999Z07:00", "2006-01-02T15:04:05.999Z0700", "2006-01-02T15:04:05.999Z07"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("Unparseable date: \"%s\"", text)
}

var iso8601 = regexp.MustCompile(`(?i)^([-+]?)P(?:([-+]?\d+)D)?(T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?$`)

// parseDuration reads PnDTnHnMn.nS.
func parseDuration(text string) (time.Duration, error) {
	m := iso8601.FindStringSubmatch(text)
	fail := errors.New("Text cannot be parsed to a Duration")
	if m == nil || strings.EqualFold(m[3], "T") || m[2]+m[4]+m[5]+m[6] == "" {
		return 0, fail
	}
	var sum time.Duration
	for _, part := range []struct {
		text string
		unit time.Duration
	}{{m[2], 24 * time.Hour}, {m[4], time.Hour}, {m[5], time.Minute}, {m[6], time.Second}} {
		if part.text == "" {
			continue
		}
		n, err := strconv.ParseInt(part.text, 10, 32)
		if err != nil {
			return 0, fail
		}
		sum += time.Duration(n) * part.unit
	}
	if m[7] != "" {
		n, _ := strconv.ParseInt((m[7] + "000000000")[:9], 10, 64)
		if strings.HasPrefix(m[6], "-") {
			n = -n
		}
		sum += time.Duration(n)
	}
	if m[1] == "-" {
		sum = -sum
	}
	return sum, nil
}
