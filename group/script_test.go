package group

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts answer into them")

// TestScripts runs testdata/*.txt: paragraphs of a command, a line of dashes and what came of it. The commands stand in
// script.run; member ids are CLIENT-idN, N counting the requests.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{rig: newRig(t), t: t}
			var out strings.Builder
			for _, par := range strings.Split(strings.TrimSpace(string(b)), "\n\n") {
				lines := strings.Split(par, "\n")
				var cmd []string
				for _, line := range lines {
					if line == "----" {
						break
					}
					cmd = append(cmd, line)
				}
				if strings.HasPrefix(cmd[0], "#") && len(cmd) == len(lines) && allComments(cmd) {
					out.WriteString(par + "\n\n")
					continue
				}
				out.WriteString(strings.Join(cmd, "\n") + "\n----\n" + s.commands(cmd) + "\n")
			}
			got := strings.TrimSpace(out.String()) + "\n"
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(b) {
				t.Errorf("%s differs; got:\n%s", file, got)
			}
		})
	}
}

func allComments(lines []string) bool {
	for _, l := range lines {
		if !strings.HasPrefix(l, "#") {
			return false
		}
	}
	return true
}

type script struct {
	rig  *rig
	t    *testing.T
	step int
}

func (s *script) commands(cmd []string) string {
	var b strings.Builder
	for _, line := range cmd {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		a := args{}
		for _, w := range f[1:] {
			if k, v, ok := strings.Cut(w, "="); ok {
				a[k] = v
			} else {
				a["_"] = strings.TrimSpace(a["_"] + " " + w)
			}
		}
		before := len(s.rig.log)
		b.WriteString(s.run(f[0], a))
		for _, r := range s.rig.out {
			fmt.Fprintf(&b, "%v: %s\n", r.Handle, show(r.Body))
		}
		s.rig.out = nil
		if n := len(s.rig.log) - before; n > 0 {
			fmt.Fprintf(&b, "%d records\n", n)
		}
	}
	return b.String()
}

// args are the key=value words of a command; "_" are those without key, g the first of them for most.
type args map[string]string

func (a args) num(key string, otherwise int) int {
	if v, ok := a[key]; ok {
		n, err := strconv.Atoi(v)
		if err != nil {
			panic(err)
		}
		return n
	}
	return otherwise
}

func (a args) opt(key string) *string {
	if v, ok := a[key]; ok {
		return &v
	}
	return nil
}

func (a args) list(key string) [][]string {
	var out [][]string
	if a[key] == "" {
		return nil
	}
	for _, w := range strings.Split(a[key], ",") {
		out = append(out, strings.Split(w, "/"))
	}
	return out
}

func (s *script) header(a args) Header {
	client := a["client"]
	if client == "" {
		client = "c"
	}
	return Header{Group: a["_"], Version: int16(a.num("v", 9)), ClientID: client, ClientHost: "/h"}
}

func (s *script) send(a args, r Request) string {
	s.step++
	handle := a["as"]
	if handle == "" {
		handle = fmt.Sprintf("r%d", s.step)
	}
	s.rig.step(handle, r)
	return ""
}

func (s *script) run(cmd string, a args) string {
	switch cmd {
	case "join":
		j := &JoinRequest{Header: s.header(a), MemberID: a["id"], InstanceID: a.opt("instance"), SessionTimeoutMs: int32(a.num("session", 10000)),
			RebalanceTimeoutMs: int32(a.num("rebalance", 60000)), ProtocolType: "consumer"}
		if t, ok := a["type"]; ok {
			j.ProtocolType = t
		}
		if _, ok := a["protocols"]; !ok {
			a["protocols"] = "range/a"
		}
		for _, p := range a.list("protocols") {
			j.Protocols = append(j.Protocols, Protocol{Name: p[0], Metadata: metadataOf(p[1:]...)})
		}
		return s.send(a, j)
	case "sync":
		q := &SyncRequest{Header: s.header(a), MemberID: a["id"], InstanceID: a.opt("instance"), Generation: int32(a.num("gen", 1)),
			ProtocolType: a.opt("type"), Protocol: a.opt("protocol")}
		q.Version = int16(a.num("v", 4))
		for _, w := range a.list("assign") {
			q.Assignments = append(q.Assignments, Assignment{MemberID: w[0], Bytes: []byte(w[1])})
		}
		return s.send(a, q)
	case "beat":
		return s.send(a, &HeartbeatRequest{Header: s.header(a), MemberID: a["id"], InstanceID: a.opt("instance"), Generation: int32(a.num("gen", 1))})
	case "leave":
		l := &LeaveRequest{Header: s.header(a)}
		for _, w := range a.list("members") {
			m := LeaveMember{MemberID: w[0]}
			if len(w) > 1 {
				m.InstanceID = &w[1]
			}
			l.Members = append(l.Members, m)
		}
		return s.send(a, l)
	}
	return s.offsets(cmd, a)
}

func (s *script) offsets(cmd string, a args) string {
	switch cmd {
	case "commit":
		q := &CommitRequest{Header: s.header(a), MemberID: a["id"], InstanceID: a.opt("instance"), Generation: int32(a.num("gen", -1)), RetentionMs: int64(a.num("retention", -1))}
		for _, w := range a.list("offsets") {
			p, _ := strconv.Atoi(w[1])
			o, _ := strconv.Atoi(w[2])
			v := CommitOffset{Topic: w[0], TopicID: topicID(w[0]), Partition: int32(p), Offset: int64(o), LeaderEpoch: -1}
			if len(w) > 3 {
				v.Metadata = w[3]
			}
			q.Offsets = append(q.Offsets, v)
		}
		return s.send(a, q)
	case "fetch":
		q := &FetchRequest{Header: s.header(a), Epoch: int32(a.num("epoch", -1)), MemberID: a["id"], All: a["offsets"] == ""}
		for _, w := range a.list("offsets") {
			p, _ := strconv.Atoi(w[1])
			q.Offsets = append(q.Offsets, FetchOffset{Topic: w[0], Partition: int32(p)})
		}
		return s.send(a, q)
	case "delete":
		return s.send(a, &DeleteRequest{Header: s.header(a)})
	case "delete-offsets":
		q := &DeleteOffsetsRequest{Header: s.header(a)}
		for _, w := range a.list("offsets") {
			p, _ := strconv.Atoi(w[1])
			q.Partitions = append(q.Partitions, DeleteOffset{Topic: w[0], Partition: int32(p)})
		}
		return s.send(a, q)
	case "describe":
		return s.send(a, &DescribeRequest{Header: s.header(a)})
	}
	return s.world(cmd, a)
}

// world moves what is around the machine.
func (s *script) world(cmd string, a args) string {
	switch cmd {
	case "wait":
		n, err := strconv.Atoi(a["_"])
		if err != nil {
			s.t.Fatal(err)
		}
		s.rig.wait(int64(n))
	case "hold":
		s.rig.hold = true
	case "release":
		s.rig.fail = Code(a.num("code", 0))
		s.rig.hold = false
		s.rig.release()
		s.rig.carry()
		s.rig.fail = None
	case "restart":
		s.rig.restart()
	case "drop-topic":
		delete(s.rig.topics.parts, a["_"])
		s.rig.c.TopicsDeleted([]string{a["_"]}, s.rig.now)
		s.rig.carry()
	case "config":
		cfg := *s.rig.cfg
		cfg.InitialRebalanceDelayMs = int32(a.num("delay", int(cfg.InitialRebalanceDelayMs)))
		cfg.MaxSize = int32(a.num("max", int(cfg.MaxSize)))
		cfg.OffsetsRetentionMs = int64(a.num("retention", int(cfg.OffsetsRetentionMs)))
		s.rig.cfg = &cfg
		s.rig.c.SetConfig(&cfg)
	case "list":
		var b strings.Builder
		for _, l := range s.rig.c.List(nil, nil) {
			fmt.Fprintf(&b, "%s type %q %s %s\n", l.Group, l.ProtocolType, l.State, l.Kind)
		}
		return b.String()
	case "durable":
		return durable(s.rig.c)
	case "stop":
		s.rig.c.Stop(NotCoordinator)
		s.rig.carry()
	default:
		s.t.Fatalf("no such command: %s", cmd)
	}
	return ""
}

// show is a reply in one line.
func show(body any) string {
	switch r := body.(type) {
	case *JoinReply:
		if r.Code != None {
			return fmt.Sprintf("join code %d member %q", r.Code, r.MemberID)
		}
		line := fmt.Sprintf("join generation %d protocol %s leader %q member %q", r.Generation, quoted(r.Protocol), r.Leader, r.MemberID)
		if r.SkipAssignment {
			line += " skip"
		}
		for i := range r.Members {
			line += fmt.Sprintf(" [%s]", r.Members[i].MemberID)
		}
		return line
	case *SyncReply:
		return fmt.Sprintf("sync code %d assignment %q", r.Code, r.Assignment)
	case *CodeReply:
		return fmt.Sprintf("code %d", r.Code)
	case *LeaveReply:
		line := fmt.Sprintf("leave code %d", r.Code)
		for _, m := range r.Members {
			line += fmt.Sprintf(" [%q %d]", m.MemberID, m.Code)
		}
		return line
	case *CommitReply:
		line := "commit"
		for _, o := range r.Offsets {
			line += fmt.Sprintf(" [%s/%d code %d]", o.Topic, o.Partition, o.Code)
		}
		return line
	case *FetchReply:
		line := fmt.Sprintf("fetch code %d", r.Code)
		for _, o := range r.Offsets {
			line += fmt.Sprintf(" [%s/%d %d %q code %d]", o.Topic, o.Partition, o.Offset, o.Metadata, o.Code)
		}
		return line
	case *DeleteOffsetsReply:
		line := fmt.Sprintf("delete-offsets code %d", r.Code)
		for _, p := range r.Partitions {
			line += fmt.Sprintf(" [%s/%d code %d]", p.Topic, p.Partition, p.Code)
		}
		return line
	case *DescribeReply:
		line := fmt.Sprintf("describe code %d %s type %q protocol %q", r.Code, r.State, r.ProtocolType, r.Protocol)
		for _, m := range r.Members {
			line += fmt.Sprintf("\n  %s instance %s client %s%s metadata %q assignment %q", m.MemberID, quoted(m.InstanceID), m.ClientID, m.ClientHost, m.Metadata, m.Assignment)
		}
		return line
	}
	return fmt.Sprintf("%+v", body)
}
