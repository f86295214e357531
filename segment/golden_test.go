package segment

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

func kafkaOptions(topic string) Options {
	o := DefaultOptions()
	o.IndexIntervalBytes = 300
	o.IndexBytes = map[string]int64{"plain": 72, "packed": 120}[topic]
	return o
}

var kafkaEnds = map[string]int64{"plain": 60, "packed": 200}

// copyDir copies the corpus to a file system.
func copyDir(t testing.TB, fsys vfs.FS, from, to string) {
	t.Helper()
	must(t, fsys.MkdirAll(to))
	list, err := os.ReadDir(from)
	must(t, err)
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		must(t, err)
		must(t, fsys.WriteFileAtomic(filepath.Join(to, e.Name()), data))
	}
}

func kafkaBatches(t testing.TB, topic string) []batch.View {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata/kafka/clean", topic+"-0", "*.log"))
	must(t, err)
	slices.Sort(names)
	var out []batch.View
	for _, n := range names {
		data, err := os.ReadFile(n)
		must(t, err)
		s := batch.NewScanner(data, true)
		for s.Next() {
			out = append(out, s.View())
		}
		must(t, s.Err())
	}
	if len(out) == 0 {
		t.Fatal("no corpus")
	}
	return out
}

// TestSameBytesAsKafka appends the batches that Kafka stored and expects every file as Kafka wrote it.
func TestSameBytesAsKafka(t *testing.T) {
	for topic, end := range kafkaEnds {
		t.Run(topic, func(t *testing.T) {
			m := newMemDir(t)
			p := testParams()
			p.Dir, p.Topic, p.Options = "/d/"+topic+"-0", topic, kafkaOptions(topic)
			id, err := ReadTopicID(vfs.OS{}, "testdata/kafka/clean/"+topic+"-0")
			must(t, err)
			p.TopicID = id
			l := mustCreate(t, m, p)
			var ld loader
			for _, v := range kafkaBatches(t, topic) {
				must(t, appendAll(l, ld.entries(), v))
				ld.apply(v)
			}
			if l.End() != end {
				t.Fatalf("end %d", l.End())
			}
			must(t, l.Close(ld.entries()))
			dir := "testdata/kafka/clean/" + topic + "-0"
			list, err := os.ReadDir(dir)
			must(t, err)
			for _, e := range list {
				want, err := os.ReadFile(filepath.Join(dir, e.Name()))
				must(t, err)
				got, err := m.ReadFile(filepath.Join(p.Dir, e.Name()))
				if err != nil {
					t.Errorf("%s: %v", e.Name(), err)
					continue
				}
				if filepath.Ext(e.Name()) == suffixSnapshot {
					got, want = sortSnapshot(t, got), sortSnapshot(t, want)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s differs:\n% x\nKafka:\n% x", e.Name(), got, want)
				}
			}
		})
	}
}

// sortSnapshot puts the producers in order of id: Kafka writes them in the order of a hash map.
func sortSnapshot(t *testing.T, b []byte) []byte {
	e, err := decodeSnapshot(b)
	must(t, err)
	slices.SortFunc(e, func(a, b ProducerEntry) int { return int(a.ProducerID - b.ProducerID) })
	return encodeSnapshot(e)
}

func TestOpenKafkaDirectory(t *testing.T) {
	for topic, end := range kafkaEnds {
		for _, state := range []string{"clean", "live"} {
			t.Run(topic+"-"+state, func(t *testing.T) {
				m := vfs.NewMem()
				p := testParams()
				p.Dir, p.Topic, p.Options, p.TopicID = "/d/"+topic+"-0", topic, kafkaOptions(topic), [16]byte{}
				copyDir(t, m, "testdata/kafka/"+state+"/"+topic+"-0", p.Dir)
				p.Clean = state == "clean"
				var ld loader
				p.Producers = &ld
				if p.Clean {
					p.RecoveryPoint = end
				}
				l, rep, err := Open(m, p)
				must(t, err)
				if l.End() != end || rep.CutBytes != 0 || len(rep.Damage) != 0 {
					t.Fatalf("end %d, report %+v", l.End(), rep)
				}
				if p.Clean && (len(ld.replays) != 0 || ld.offset != end) {
					t.Errorf("a clean directory needed replay: %v from %d", ld.replays, ld.offset)
				}
				var md model
				var want loader
				for _, v := range kafkaBatches(t, topic) {
					md.add(v)
					want.apply(v)
				}
				md.check(t, l, 0)
				for id, w := range want.state {
					g := ld.state[id]
					wl, _ := w.Last()
					gl, ok := g.Last()
					if !ok || wl != gl || g.Epoch != w.Epoch {
						t.Errorf("producer %d: %+v, want %+v", id, gl, wl)
					}
				}
				// It goes on: append, stop, start.
				for range 30 {
					v := testBatch(l.End(), 1, 2, 9_000_000_000_000+l.End(), 60)
					md.add(v)
					must(t, appendAll(l, ld.entries(), v))
				}
				md.check(t, l, 0)
				e := l.End()
				must(t, l.Close(ld.entries()))
				p.Clean, p.CleanEnd, p.RecoveryPoint = true, e, e
				l, rep, err = Open(m, p)
				must(t, err)
				if len(rep.Notes) != 0 || rep.ScannedBytes != 0 {
					t.Errorf("second start: %+v", rep)
				}
				md.check(t, l, 0)
			})
		}
	}
}

func TestKafkaRootFiles(t *testing.T) {
	m, err := ReadMeta(vfs.OS{}, "testdata/kafka/clean")
	must(t, err)
	if m.NodeID != 1 || len(m.ClusterID) != 22 || len(m.DirectoryID) != 22 || len(m.Other) != 0 {
		t.Fatalf("%+v", m)
	}
	again, err := parseMeta(formatMeta(m))
	if err != nil || again.ClusterID != m.ClusterID || again.DirectoryID != m.DirectoryID || again.NodeID != 1 {
		t.Fatalf("%+v %v", again, err)
	}
	c, ok, err := ReadCleanMark(vfs.OS{}, "testdata/kafka/clean")
	if err != nil || !ok || c.BrokerEpoch <= 0 || c.Ends != nil {
		t.Fatalf("%+v %v %v", c, ok, err)
	}
	if _, ok, err := ReadCleanMark(vfs.OS{}, "testdata/kafka/live"); ok || err != nil {
		t.Fatalf("%v %v", ok, err)
	}
	e, err := ReadOffsets(vfs.OS{}, "testdata/kafka/clean/"+RecoveryPointFile)
	must(t, err)
	for _, x := range e {
		if kafkaEnds[x.Topic] != x.Offset {
			t.Errorf("%+v", x)
		}
	}
	raw, err := os.ReadFile("testdata/kafka/clean/" + RecoveryPointFile)
	must(t, err)
	if !bytes.Equal(formatOffsets(e), raw) {
		t.Errorf("%q, Kafka wrote %q", formatOffsets(e), raw)
	}
}
