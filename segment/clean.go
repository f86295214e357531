package segment

import (
	"errors"

	"millrace/internal/invariant"
)

// Cleaning (compaction) keeps the last record of every key. It goes through sealed segments from the log's first to some
// bound, in two steps: the keys of the part that was never cleaned (dirty) go into a map, then groups of segments are
// written anew without the records that the map supersedes. Offsets never move: a batch keeps its base and last offset
// and holds fewer records. The cleaning runs on a goroutine of its own (Cleaning.Run); the log's owner begins it, puts
// each finished group in the place of its segments (Log.Replace), and ends it.

// ErrAborted: a cleaning was told to stop.
var ErrAborted = errors.New("segment: cleaning aborted")

// CleanLimits say what may be cleaned.
type CleanLimits struct {
	// Stable is the last stable offset: nothing at or above it is touched.
	Stable int64
	// MinLagMs keeps the segments whose newest record is younger (min.compaction.lag.ms); 0: none.
	MinLagMs int64
	NowMs    int64
}

// Cleanable is the part of a log that a cleaning would deal with, and how dirty it is. It pins segments until Release.
type Cleanable struct {
	// From is the first offset that was never cleaned, To the first that must not be: the base of a segment.
	From, To int64
	// CleanBytes lie below From, DirtyBytes between From and To, by whole segments.
	CleanBytes, DirtyBytes int64

	view     *View
	segs     []*Segment // those below To
	cutCount int
}

// Ratio is the dirty part, 0 to 1.
func (c *Cleanable) Ratio() float64 {
	if c.DirtyBytes == 0 {
		return 0
	}
	return float64(c.DirtyBytes) / float64(c.CleanBytes+c.DirtyBytes)
}

// Release unpins the segments. Any goroutine.
func (c *Cleanable) Release() {
	if c.view != nil {
		c.view.Release()
		c.view = nil
	}
}

// Overdue says for how long (ms) the first dirty record has been older than maxLagMs; 0 if it is not. It reads, and so
// may block; any goroutine, before Release.
func (c *Cleanable) Overdue(nowMs, maxLagMs int64) (int64, error) {
	oldest := int64(maxMs)
	for _, s := range c.segs {
		size, end := s.bounds()
		if end <= c.From || size == 0 {
			continue
		}
		h, ok, err := firstHead(s.file, size)
		if err != nil {
			return 0, err
		}
		if ok && h.MaxTimestamp() > 0 {
			oldest = min(oldest, h.MaxTimestamp())
		}
	}
	if limit := nowMs - maxLagMs; oldest < limit {
		return limit - oldest, nil
	}
	return 0, nil
}

// CleanedTo is the first offset that was never cleaned; it may lie below Start.
func (l *Log) CleanedTo() int64 { return l.cleaned }

// SetCleanedTo says how far the log was cleaned before it was opened (the checkpoint). Owner, or before the log is shared.
func (l *Log) SetCleanedTo(offset int64) { l.cleaned = offset }

// Cleanable says what could be cleaned now.
func (l *Log) Cleanable(o CleanLimits) Cleanable {
	c := Cleanable{From: max(l.cleaned, l.start), cutCount: l.cutCount}
	if c.From > l.pub.end {
		c.From = l.start // the checkpoint is of another log
	}
	c.view = l.View()
	segs := c.view.segs
	c.To = l.start
	if len(segs) > 0 {
		c.To = segs[0].base
	}
	for i := 0; i < len(segs)-1; i++ {
		s := segs[i]
		size, end := s.bounds()
		if !s.own.sealed || !segs[i+1].own.named || segs[i+1].base > o.Stable {
			break
		}
		dirty := end > c.From
		if dirty && o.MinLagMs > 0 && s.latestMs() > o.NowMs-o.MinLagMs {
			break
		}
		if dirty {
			c.DirtyBytes += size
		} else {
			c.CleanBytes += size
		}
		c.segs = append(c.segs, s)
		c.To = segs[i+1].base
	}
	return c
}

// CleanSettings are those of one cleaning.
type CleanSettings struct {
	NowMs             int64
	DeleteRetentionMs int64 // delete.retention.ms: how long tombstones and markers stay once they have been cleaned
	Stable            int64 // as in CleanLimits, now or earlier
	// MapBytes bounds the memory for keys, LoadFactor (0 to 1) how full it may get.
	MapBytes   int64
	LoadFactor float64
	// ChunkBytes is how much is read and written at a time; 0 for 1 MiB.
	ChunkBytes int64
	// Producers are the known producers: the batch that holds the last sequence of each stays, be it empty. The log may
	// have gone on since.
	Producers []ProducerEntry
	// Pace is called after so many bytes were read or written, often; an error ends the cleaning with it.
	Pace func(bytes int) error
}

// CleanStats is what a cleaning did.
type CleanStats struct {
	// End is the offset up to which the log is clean now.
	End                         int64
	BytesRead, BytesWritten     int64
	RecordsRead, RecordsWritten int64
	Keys                        int
	// InvalidRecords had no key; they were dropped.
	InvalidRecords int64
	// Groups were written anew, Skipped not, because all their segments went in between.
	Groups, Skipped int
}

// BeginClean begins to clean what c describes, as far as it lies below the recovery point: what a start may have to scan
// is not rewritten. It takes c over. Nil: nothing can be done now. One cleaning at a time; EndClean ends it.
func (l *Log) BeginClean(c Cleanable, o CleanSettings) *Cleaning {
	n := 0
	for n < len(c.segs) {
		if _, end := c.segs[n].bounds(); end > l.recovery || end > l.synced {
			break
		}
		n++
	}
	dirty := n > 0 && c.From < c.To
	if dirty {
		_, end := c.segs[n-1].bounds()
		dirty = end > c.From
	}
	if !dirty || l.closed || l.busy || l.cleaning || l.replacing != nil || c.cutCount != l.cutCount {
		c.Release()
		return nil
	}
	if n < len(c.segs) {
		c.To, c.segs = c.segs[n].base, c.segs[:n]
	}
	l.cleaning = true
	return &Cleaning{
		fs: l.sh.fs, segs: c.segs, view: c.view, from: c.From, to: c.To, o: o, cutCount: c.cutCount,
		segmentBytes: l.opts.SegmentBytes, indexBytes: l.opts.IndexBytes,
	}
}

// EndClean ends a cleaning whose Run has returned. With ok CleanedTo moves to the end of what is clean.
func (l *Log) EndClean(c *Cleaning, ok bool) {
	invariant.Assert(l.cleaning, "a cleaning ends that was begun")
	l.cleaning = false
	if ok && c.cutCount == l.cutCount {
		l.cleaned = c.stats.End
	}
	c.view.Release()
}
