package controller

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts of testdata print into them")

// TestScripts runs testdata/*.txt. A script is a list of blocks: a verb with arguments, entries one a line, a line
// of dashes, and what is printed. Every command goes through its bytes and is applied to the image; "validate"
// before it asks without applying; "image" prints all there is.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runFile(t, file) })
	}
}

func runFile(t *testing.T, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{im: NewImage(Founding{ClusterID: "AAAAAAAAAAAAAAAAAAAAAA"}), index: 1, counters: map[int32]uint64{}, incarnations: map[int32]uint64{}}
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(string(content)), "\n\n") {
		if i > 0 {
			out.WriteString("\n")
		}
		input, _, _ := strings.Cut(block, "\n----")
		for _, line := range strings.Split(input, "\n") {
			out.WriteString(line + "\n")
		}
		if strings.HasPrefix(input, "#") && !strings.Contains(block, "\n----") {
			continue
		}
		out.WriteString("----\n" + s.run(t, input))
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if out.String() != string(content) {
		t.Errorf("differs; run with -rewrite and look at the diff\n%s", firstDifference(string(content), out.String()))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// script is a cluster under test.
type script struct {
	im           *Image
	index        uint64
	ids          uint64
	counters     map[int32]uint64
	incarnations map[int32]uint64
}

func testUUID(n uint64) (id UUID) {
	binary.BigEndian.PutUint64(id[8:], n)
	return id
}

func (s *script) run(t *testing.T, input string) string {
	lines := strings.Split(input, "\n")
	for strings.HasPrefix(lines[0], "#") {
		lines = lines[1:]
	}
	args := strings.Fields(lines[0])
	only := args[0] == "validate"
	if only {
		args = args[1:]
	}
	node := int32(1)
	for i, a := range args {
		if n, ok := strings.CutPrefix(a, "from="); ok {
			node = atoi(n)
			args = slices.Delete(args, i, i+1)
			break
		}
	}
	if args[0] == "image" {
		return s.print()
	}
	if args[0] == "resend" || args[0] == "skip" || args[0] == "old" {
		return s.odd(t, args[0], node)
	}
	body := s.body(t, args, lines[1:])
	if only {
		return s.validate(body)
	}
	if _, ok := body.(*RegisterBroker); ok {
		s.incarnations[node]++
		s.counters[node] = 0
	}
	s.counters[node]++
	return s.apply(t, node, s.incarnations[node], s.counters[node], body)
}

// odd sends a command that is no next one: the last again, one with a gap, one of the incarnation before.
func (s *script) odd(t *testing.T, what string, node int32) string {
	body := &AllocateProducerIDs{Count: 1}
	switch what {
	case "resend":
		return s.apply(t, node, s.incarnations[node], s.counters[node], body)
	case "skip":
		return s.apply(t, node, s.incarnations[node], s.counters[node]+2, body)
	}
	return s.apply(t, node, s.incarnations[node]-1, s.counters[node]+1, body)
}

func (s *script) apply(t *testing.T, node int32, incarnation, counter uint64, body Body) string {
	cmd := Command{Node: node, Incarnation: testUUID(uint64(node)<<32 | incarnation), Counter: counter, Body: body}
	encoded := cmd.Encode(nil)
	decoded, err := DecodeCommand(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(decoded.Encode(nil), encoded) {
		t.Fatalf("%T: decoded and encoded again it differs", body)
	}
	s.index++
	before := AppendImage(nil, s.im)
	next, res, changes, applied := Apply(s.im, s.index, &decoded)
	if !bytes.Equal(AppendImage(nil, s.im), before) {
		t.Fatalf("%T changed the old image", body)
	}
	s.im = next
	checkImage(t, next)
	if !applied {
		return "not applied\n"
	}
	_, ids := body.(*AllocateProducerIDs)
	return printResult(&res, ids && res.Code == CodeNone) + printChanges(changes)
}

func (s *script) validate(body Body) string {
	var out []TopicResult
	switch b := body.(type) {
	case *CreateTopics:
		out = ValidateCreate(s.im, b)
	case *DeleteTopics:
		out = ValidateDelete(s.im, b)
	case *CreatePartitions:
		out = ValidateCreatePartitions(s.im, b)
	}
	return printResult(&Result{Topics: out}, false)
}

func atoi(s string) int32 {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		panic(err)
	}
	return int32(n)
}

func (s *script) body(t *testing.T, args, entries []string) Body {
	switch args[0] {
	case "register":
		c := &RegisterBroker{Endpoints: []Endpoint{{Listener: "PLAINTEXT", Host: "localhost", Port: 9092}}}
		for _, a := range args[1:] {
			c.Rack = strings.TrimPrefix(a, "rack=")
		}
		return c
	case "lead":
		return &TakeLeadership{}
	case "producers":
		return &AllocateProducerIDs{Count: atoi(args[1])}
	case "create":
		return s.create(entries)
	case "delete":
		return s.deleteBody(entries)
	case "grow":
		c := &CreatePartitions{}
		for _, e := range entries {
			f := strings.Fields(e)
			m := MorePartitions{Name: f[0], Count: atoi(f[1])}
			for _, list := range f[2:] {
				m.Manual, m.Assignment = true, append(m.Assignment, idList(list))
			}
			c.Topics = append(c.Topics, m)
		}
		return c
	case "config":
		return s.config(entries)
	}
	t.Fatalf("unknown verb %q", args[0])
	return nil
}

// create entries: NAME PARTITIONS FACTOR [key=value | N:1,2 (replicas of partition N)]...
func (s *script) create(entries []string) Body {
	var topics []NewTopic
	for _, e := range entries {
		f := strings.Fields(e)
		name, err := strconv.Unquote(f[0])
		if err != nil {
			name = f[0]
		}
		n := NewTopic{Name: strings.ReplaceAll(name, "SPACE", " "), Partitions: atoi(f[1]), ReplicationFactor: int16(atoi(f[2]))}
		for _, a := range f[3:] {
			if k, v, ok := strings.Cut(a, "="); ok {
				if n.Configs == nil {
					n.Configs = map[string]string{}
				}
				n.Configs[k] = v
				continue
			}
			n.Manual = true
			if p, list, ok := strings.Cut(a, ":"); ok {
				n.Assignment = append(n.Assignment, Assignment{Partition: atoi(p), Replicas: idList(list)})
			}
		}
		topics = append(topics, n)
	}
	newID := func() UUID { s.ids++; return testUUID(s.ids) }
	return NewCreateTopics(topics, Defaults{Partitions: 2, ReplicationFactor: 1}, newID, func(configs map[string]string) string {
		if _, bad := configs["no.such.key"]; bad {
			return "Unknown topic config name: no.such.key"
		}
		return ""
	})
}

func idList(s string) []int32 {
	var ids []int32
	for _, f := range strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c == '[' || c == ']' }) {
		ids = append(ids, atoi(f))
	}
	return ids
}

// delete entries: NAME, or #N for the id, or both, or "nothing".
func (s *script) deleteBody(entries []string) Body {
	c := &DeleteTopics{}
	for _, e := range entries {
		var ref TopicRef
		for _, f := range strings.Fields(e) {
			if n, ok := strings.CutPrefix(f, "#"); ok {
				ref.ID = testUUID(uint64(atoi(n)))
			} else if f != "nothing" {
				ref.Name = &f
			}
		}
		c.Topics = append(c.Topics, ref)
	}
	return c
}

// config entries: TYPE NAME VERSION|now [key=value]...
func (s *script) config(entries []string) Body {
	c := &AlterConfigs{}
	for _, e := range entries {
		f := strings.Fields(e)
		set := ConfigSet{Resource: Resource{Type: ResourceType(atoi(f[0])), Name: strings.Trim(f[1], `"`)}}
		if set.Version = s.im.ConfigVersion(set.Resource); f[2] != "now" {
			set.Version = int64(atoi(f[2]))
		}
		for _, a := range f[3:] {
			k, v, _ := strings.Cut(a, "=")
			if set.Configs == nil {
				set.Configs = map[string]string{}
			}
			set.Configs[k] = v
		}
		c.Sets = append(c.Sets, set)
	}
	return c
}
