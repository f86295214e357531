package segment

// SetStart raises the log start (DeleteRecords); the caller has synced the log up to it and the log-start checkpoint.
// False if it is not above Start or above WrittenEnd. The files go with the next Retention.
func (l *Log) SetStart(offset int64) bool {
	if offset <= l.start || offset > l.pub.end {
		return false
	}
	l.raiseStart(offset)
	return true
}

func (l *Log) raiseStart(offset int64) {
	l.start = offset
	old := l.epochs.Load()
	if e := old.truncateStart(offset); e != old {
		l.epochs.Store(e)
	}
}

// Retained is what one Retention pass did.
type Retained struct {
	ByStart, ByTime, BySize int
	Bytes                   int64
	// Roll: the active segment is due too; RequestRoll was called, and the next pass after the roll takes it.
	Roll bool
}

// Retention takes segments out of the log: first those below the log start, then by time, then by size, none that holds
// offsets at or above committed. They vanish from View at once; a JobDelete renames them. Start may have risen.
func (l *Log) Retention(nowMs, committed int64) Retained {
	var r Retained
	if l.truncating || l.closed || l.replacing != nil {
		return r // what is being replaced cannot go by its old names; the next pass takes it
	}
	l.nowMs = nowMs
	segs := l.view.Load().segs
	total := l.Size()
	n := 0
	// may says whether segment n can go at all: it is whole below committed, and it has nothing to wait for.
	may := func() bool {
		if n >= len(segs) {
			return false
		}
		s := segs[n]
		if n == len(segs)-1 {
			_, end := s.bounds()
			return l.st.pos > 0 && end <= committed && l.st.end == end
		}
		return s.own.sealed && segs[n+1].own.named && segs[n+1].base <= committed
	}
	take := func(count *int) bool {
		if n == len(segs)-1 {
			r.Roll = true
			return false
		}
		size, _ := segs[n].bounds()
		r.Bytes += size
		total -= size
		*count++
		n++
		return true
	}
	for n < len(segs)-1 && may() && segs[n+1].base <= l.start && take(&r.ByStart) {
	}
	if l.opts.DeleteByRetention {
		for l.opts.RetentionMs >= 0 && may() && nowMs-segs[n].latestMs() > l.opts.RetentionMs && take(&r.ByTime) {
		}
		for l.opts.RetentionBytes >= 0 && may() && total-l.opts.RetentionBytes >= segs[n].size() && segs[n].size() > 0 && take(&r.BySize) {
		}
	}
	if r.Roll {
		l.RequestRoll()
	}
	if n > 0 {
		l.dropFirst(n)
	}
	return r
}

// dropFirst takes the n oldest segments out of the view.
func (l *Log) dropFirst(n int) {
	segs := l.view.Load().segs
	gone := append([]*Segment(nil), segs[:n]...)
	l.publish(append([]*Segment(nil), segs[n:]...))
	if base := segs[n].base; base > l.start {
		l.raiseStart(base)
	}
	kept := l.snaps[:0]
	for _, o := range l.snaps {
		if o >= segs[n].base {
			kept = append(kept, o) // the others go with their segments
		}
	}
	l.snaps = kept
	l.deleteSegments(gone)
}

// latestMs is the time that retention counts from: the largest timestamp, or when the file was last written.
func (s *Segment) latestMs() int64 {
	if ts := s.maxTs.Load(); ts >= 0 {
		return ts
	}
	return s.own.modMs
}

func (s *Segment) size() int64 {
	pos, _ := s.bounds()
	return pos
}
