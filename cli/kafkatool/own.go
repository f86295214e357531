package kafkatool

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
)

// Call runs a tool for a subcommand of this program: what goes wrong is returned and not told, neither in Java's words nor with a usage, and an
// error that Kafka's tool ends with 0 is one.
func Call(e *Env, args []string) error {
	t := find(e.Name)
	if t == nil || t.script != nil {
		return fmt.Errorf("%s is no tool that can be called", e.Name)
	}
	e.own = true
	err := t.execute(e, args)
	if ferr := e.Out.Flush(); err == nil && ferr != nil {
		err = fmt.Errorf("standard out: %w", ferr)
	}
	return err
}

// jsonFormatter shows each record as one line of JSON, for subcommands.
type jsonFormatter struct{}

// recordLine is a record as JSON; bytes that are no UTF-8 are under a name of their own.
type recordLine struct {
	Topic       string       `json:"topic"`
	Partition   int32        `json:"partition"`
	Offset      int64        `json:"offset"`
	Timestamp   int64        `json:"timestamp"` // milliseconds
	Headers     []headerLine `json:"headers,omitempty"`
	Key         *string      `json:"key"`
	KeyBase64   string       `json:"keyBase64,omitempty"`
	Value       *string      `json:"value"`
	ValueBase64 string       `json:"valueBase64,omitempty"`
	LogAppend   bool         `json:"logAppendTime,omitempty"`
}

type headerLine struct {
	Key         string  `json:"key"`
	Value       *string `json:"value"`
	ValueBase64 string  `json:"valueBase64,omitempty"`
}

// textOf is nil for null, the text where it is one, else base64.
func textOf(b []byte) (text *string, encoded string) {
	switch {
	case b == nil:
		return nil, ""
	case utf8.Valid(b):
		s := string(b)
		return &s, ""
	}
	return nil, base64.StdEncoding.EncodeToString(b)
}

func (jsonFormatter) write(w *bufio.Writer, r *kgo.Record) error {
	l := recordLine{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), LogAppend: r.Attrs.TimestampType() == 1}
	l.Key, l.KeyBase64 = textOf(r.Key)
	l.Value, l.ValueBase64 = textOf(r.Value)
	for _, h := range r.Headers {
		one := headerLine{Key: h.Key}
		one.Value, one.ValueBase64 = textOf(h.Value)
		l.Headers = append(l.Headers, one)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(&l)
}

// ErrNotMoved says that a group's offsets cannot be set because of its state.
var ErrNotMoved = errors.New("its offsets can be set when it has no members")

// ErrNotThere says that a topic or partition that was named does not exist.
var ErrNotThere = errors.New("not found")

// Seek says where a group's offsets are to go.
type Seek struct {
	Group    string
	Scenario string   // Kafka's name of it, such as to-earliest
	Value    string   // its argument
	Topics   []string // TOPIC or TOPIC:0,1; none is all that the group has commits for
	Execute  bool     // else it is only looked up
}

// SeekRow is a partition's offset before and after; From is nil where nothing was committed.
type SeekRow struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	From      *int64 `json:"from"`
	To        int64  `json:"to"`
}

// SeekGroup computes the new offsets of a group without members, and commits them if that is asked for. ErrNoGroup and ErrNotMoved are its own
// errors; notes go to e.Err.
func SeekGroup(ctx context.Context, e *Env, cl *kgo.Client, s Seek) ([]SeekRow, error) {
	args := []string{"--reset-offsets", "--group", s.Group, "--" + s.Scenario}
	if s.Value != "" {
		args[len(args)-1] += "=" + s.Value
	}
	for _, t := range s.Topics {
		args = append(args, "--topic="+t)
	}
	if len(s.Topics) == 0 {
		args = append(args, "--all-topics")
	}
	v, err := groupsOptions().Parse(args)
	if err != nil {
		return nil, err
	}
	e.own = true
	g := &groupCommand{e: e, v: v, cl: cl, ctx: ctx}
	info, err := describeGroup(ctx, cl, s.Group)
	switch {
	case err != nil:
		return nil, err
	case info.missing != nil:
		return nil, ErrNoGroup
	case info.state != "Empty" && info.state != "Dead":
		return nil, fmt.Errorf("group %s is in use (%s, members: %d): %w", s.Group, info.state, len(info.members), ErrNotMoved)
	}
	done, err := committedOffsets(ctx, cl, s.Group)
	if err != nil {
		return nil, err
	}
	parts, err := g.partitionsToReset(done)
	if err != nil {
		return nil, err
	}
	to, err := g.target(parts, done, nil)
	if err != nil {
		return nil, err
	}
	rows := make([]resetRow, 0, len(to))
	for tp, o := range to {
		rows = append(rows, resetRow{s.Group, tp, o})
	}
	slices.SortFunc(rows, func(a, b resetRow) int { return comparePartitions(a.tp, b.tp) })
	out := make([]SeekRow, 0, len(rows))
	for _, r := range rows {
		one := SeekRow{Topic: r.tp.topic, Partition: r.tp.partition, To: r.to}
		if c, ok := done[r.tp]; ok {
			one.From = &c.offset
		}
		out = append(out, one)
	}
	if s.Execute {
		err = g.commit(s.Group, rows)
	}
	return out, err
}

// CheckScenario reports what is wrong with the argument of a scenario that takes a time.
func CheckScenario(scenario, value string) error {
	switch scenario {
	case "to-datetime":
		_, err := parseDatetime(value)
		return err
	case "by-duration":
		_, err := parseDuration(value)
		return err
	}
	return nil
}

// Note tells something on stderr, what is on stdout first.
func (e *Env) Note(text string) { e.complain("millrace: %s", text) }

// told is how a refusal is told to whom a subcommand works for.
func told(err error) string {
	if code := codeOf(err); code != 0 {
		return conn.Words(code)
	}
	return plain(err)
}
