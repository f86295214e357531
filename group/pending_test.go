package group

import (
	"fmt"
	"testing"

	"millrace/group/record"
)

// TestTransactionalOffsets replays what transactions wrote: it counts with the marker, makes the offset unstable until then,
// keeps the group alive, and loses against a plain commit in between.
func TestTransactionalOffsets(t *testing.T) {
	s := &script{rig: newRig(t), t: t}
	c := s.rig.c
	offset := func(partition int32, o int64) record.Record {
		return record.Record{Key: offsetKey("g", "a", partition), Value: &record.Offset{Offset: o, LeaderEpoch: -1, CommitMs: 1, ExpireMs: -1}}
	}
	fetch := func(stable bool) string {
		q := &FetchRequest{Header: Header{Group: "g"}, Epoch: -1, Stable: stable, Offsets: []FetchOffset{{Topic: "a"}, {Topic: "a", Partition: 1}, {Topic: "a", Partition: 2}}}
		s.rig.step("f", q)
		got := show(s.rig.out[0].Body)
		s.rig.out = nil
		return got
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	line := func(zero, one, two int64, code Code) string {
		return fmt.Sprintf(`fetch code 0 [a/0 %d "" code %d] [a/1 %d "" code %d] [a/2 %d "" code 0]`, zero, code, one, code, two)
	}
	c.Replay(offset(0, 5))
	c.ReplayTransactional(7, offset(0, 10))
	c.ReplayTransactional(7, offset(1, 11))
	c.ReplayTransactional(8, offset(1, 12))
	expect("open, stable asked for", fetch(true), line(-1, -1, -1, UnstableOffsetCommit))
	expect("open", fetch(false), line(5, -1, -1, 0))
	c.Replay(offset(0, 6))
	expect("overtaken, still open", fetch(true), line(-1, -1, -1, UnstableOffsetCommit))
	s.rig.wait(2 * s.rig.cfg.OffsetsRetentionMs)
	c.ReplayMarker(7, true)
	expect("first committed", fetch(false), line(6, 11, -1, 0))
	c.ReplayMarker(8, false)
	expect("second aborted", fetch(true), line(6, 11, -1, 0))
	c.ReplayMarker(9, true)
	c.ReplayTransactional(7, offset(2, 1))
	c.ReplayMarker(7, true)
	expect("again", fetch(true), line(6, 11, 1, 0))
	if len(c.pending) != 0 || len(c.groups["g"].unstable) != 0 {
		t.Errorf("left: %v %v", c.pending, c.groups["g"].unstable)
	}
	c.ReplayTransactional(1, record.Record{Key: offsetKey("made", "a", 0), Value: &record.Offset{Offset: 1, ExpireMs: -1}})
	expect("a group made by a transaction", s.run("list", args{}), "g type \"\" Empty classic\nmade type \"\" Empty classic\n")
}
