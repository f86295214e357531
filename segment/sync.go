package segment

import (
	"fmt"

	"millrace/internal/invariant"
	"millrace/vfs"
)

// SyncSet is one round of datasync. Owned by the log; lent from BeginSync to SyncDone.
type SyncSet struct {
	// Files are to be synced, all of them; mostly one.
	Files []vfs.File
	// End is what SyncedEnd may become.
	End   int64
	Bytes int64
}

// mustSync is a datasync of a job. Its failure is never one that passes, whatever the error: bytes may be lost (decisions on
// write errors).
func mustSync(f vfs.File) error {
	err := f.Datasync()
	if IsNoSpace(err) {
		return fmt.Errorf("bytes may be lost: %v", err) // not wrapped: nobody is to try again
	}
	return err
}

// syncMark is how far a file was written when a round began.
type syncMark struct {
	seg      *Segment
	pos, end int64
}

// BeginSync collects the files with unsynced bytes as written now; nil when there are none or a round is under way. They
// stay open until SyncDone: retention may delete a segment that a seal made durable while the round was under way, and
// a sync of a closed file would count as a failed one.
func (l *Log) BeginSync() *SyncSet {
	if l.syncOut || l.syncErr != nil || l.closed || l.truncating {
		return nil
	}
	l.set.Files, l.set.Bytes, l.marks = l.set.Files[:0], 0, l.marks[:0]
	for _, s := range l.unsealed {
		pos, end := s.bounds()
		if pos <= s.own.syncPos {
			continue
		}
		l.set.Files = append(l.set.Files, s.file.retain().File)
		l.set.Bytes += pos - s.own.syncPos
		l.set.End = end
		l.marks = append(l.marks, syncMark{s, pos, end})
	}
	if len(l.marks) == 0 {
		return nil
	}
	l.syncOut = true
	l.ahead.rounds++
	return &l.set
}

// SyncDone ends the round. On success SyncedEnd rises, up to a roll whose names are not yet durable (the JobSeal). An
// error is remembered: SyncedEnd never moves again.
func (l *Log) SyncDone(s *SyncSet, err error) {
	invariant.Assert(l.syncOut && s == &l.set, "a sync ends that was begun")
	l.syncOut = false
	for _, m := range l.marks {
		_ = m.seg.file.drop() // closes a file only if its segment was deleted meanwhile
	}
	if err != nil {
		l.syncErr = err
		return
	}
	for _, m := range l.marks {
		m.seg.synced(m.pos, m.end)
	}
	clear(l.marks)
	l.raiseSynced()
}

func (s *Segment) synced(pos, end int64) {
	if pos > s.own.syncPos {
		s.own.syncPos, s.own.syncEnd = pos, end
	}
}

// raiseSynced finds the synced end: it passes from a segment to the next only when all of the first is durable and the
// second has its name, durably. Segments that are through leave the list.
func (l *Log) raiseSynced() {
	if l.syncErr != nil {
		return
	}
	done := 0
	for i, s := range l.unsealed {
		if !s.own.named {
			break
		}
		l.synced = max(l.synced, s.own.syncEnd)
		pos, _ := s.bounds()
		if s.own.syncPos < pos || s == l.active {
			break
		}
		if s.own.sealed {
			done = i + 1
		}
	}
	if done > 0 {
		l.unsealed = append(l.unsealed[:0], l.unsealed[done:]...)
	}
}
