package segment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/segment/batch"
)

// TestCleansAsKafka cleans what Apache Kafka's cleaner was given (all codecs, tombstones, idempotent producers,
// transactions committed and aborted) and expects the same segments, batches and records as it left, twice in a row: the
// second time with tombstones and markers behind their horizon. Only packed bytes and horizons may differ.
func TestCleansAsKafka(t *testing.T) {
	for _, c := range []struct {
		pass    string
		cleaned int64 // Kafka's checkpoint before, and after
		end     int64
		nowMs   int64
	}{{"1", 0, 466, 1795982807914}, {"2", 466, 642, 1795982816742}} {
		t.Run("pass "+c.pass, func(t *testing.T) {
			m := newMemDir(t)
			p := testParams()
			p.Dir, p.Topic, p.TopicID = "/d/kc-0", "kc", [16]byte{}
			p.Options.SegmentBytes, p.Options.IndexIntervalBytes = 1<<20, 300
			copyDir(t, m, "testdata/kafka/cleaned/before"+c.pass, p.Dir)
			var ld loader
			p.Producers = &ld
			l, _, err := Open(m, p)
			must(t, err)
			l.SetCleanedTo(c.cleaned)
			o := cleanSettings(l, c.nowMs)
			for _, e := range ld.state {
				o.Producers = append(o.Producers, e)
			}
			if s := mustClean(t, l, o); s.End != c.end {
				t.Fatalf("%+v", s)
			}
			names, err := filepath.Glob("testdata/kafka/cleaned/after" + c.pass + "/*.log")
			must(t, err)
			if len(names) != l.Segments() {
				t.Fatalf("%d segments, Kafka has %d", l.Segments(), len(names))
			}
			slices.Sort(names)
			for i, name := range names {
				s := l.view.Load().segs[i]
				if !strings.HasSuffix(s.path(suffixLog), filepath.Base(name)) {
					t.Fatalf("segment %d where Kafka has %s", s.base, name)
				}
				ours, err := m.ReadFile(s.path(suffixLog))
				must(t, err)
				kafkas, err := os.ReadFile(name)
				must(t, err)
				got, want := describeBatches(t, ours), describeBatches(t, kafkas)
				for j := range max(len(got), len(want)) {
					g, w := append(got, "none")[min(j, len(got))], append(want, "none")[min(j, len(want))]
					if g != w {
						t.Fatalf("segment %d, batch %d:\n%s\nKafka:\n%s", s.base, j, g, w)
					}
				}
			}
			progress(t, l)
			l.Abandon()
		})
	}
}

// describeBatches says all of each batch and its records but the base timestamp.
func describeBatches(t *testing.T, data []byte) (out []string) {
	t.Helper()
	s := batch.NewScanner(data, true)
	for s.Next() {
		v := s.View()
		f := v.Fields()
		f.BaseTimestamp = 0
		var line strings.Builder
		fmt.Fprintf(&line, "%+v", f)
		section, err := recordSection(v)
		must(t, err)
		it := batch.NewIter(section, v.Count())
		var r batch.Record
		for it.Next(&r) {
			fmt.Fprintf(&line, "\n  %d at %d: %q = %q, %q", r.OffsetDelta, v.TimestampOf(r.TimestampDelta), r.Key, r.Value, r.HeaderBytes)
		}
		must(t, it.Err())
		out = append(out, line.String())
	}
	must(t, s.Err())
	return out
}
