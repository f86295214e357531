package segment

import (
	"errors"
	"fmt"
	"math"

	"millrace/segment/batch"
	"millrace/vfs"
)

// ErrUncleanable: the log holds what a cleaning must not carry on: damaged or unreadable batches, or one with more keys
// than the map takes. Nothing of it was changed.
var ErrUncleanable = errors.New("segment: log cannot be cleaned")

// Cleaning is one cleaning under way. Made and ended by the log's owner; in between it belongs to whoever calls Run.
type Cleaning struct {
	fs       vfs.FS
	segs     []*Segment // to clean, oldest first
	view     *View
	from, to int64
	o        CleanSettings
	cutCount int

	segmentBytes, indexBytes int64

	keys  *keyMap
	end   int64 // what the map covers
	stats CleanStats

	bad    *Segment // in which damage was found
	damage Damage
}

// Run does the work. It blocks, reads and writes, and calls replace with each finished group, in order: that shall have the
// owner call Log.Replace and return when its job is done; false without an error if Replace refused and the segments are
// Gone, all of them. Where some are left that is ErrAborted: they are not clean. After an error what was replaced stays replaced, and the log is whole.
func (c *Cleaning) Run(replace func(*Cleaned) (bool, error)) (CleanStats, error) {
	for _, s := range c.segs {
		if len(s.damage) > 0 {
			return c.stats, fmt.Errorf("%w: %s is damaged", ErrUncleanable, s.path(suffixLog))
		}
	}
	txns := &cleanTxns{read: c.readAborted, seen: map[int64]bool{}}
	if err := c.buildMap(txns); err != nil {
		return c.stats, err
	}
	b := &batchCleaner{
		keys: c.keys, end: c.end, to: c.to, nowMs: c.o.NowMs, horizon: max(c.o.NowMs+c.o.DeleteRetentionMs, c.o.NowMs),
		lasts: lastsOf(c.o.Producers), txns: txns, stats: &c.stats,
	}
	groups, err := c.groups()
	if err != nil {
		return c.stats, err
	}
	for _, segs := range groups {
		if err := c.cleanGroup(segs, b, replace); err != nil {
			return c.stats, err
		}
	}
	c.stats.End = c.end
	return c.stats, nil
}

func (c *Cleaning) pace(bytes int) error {
	if c.o.Pace == nil {
		return nil
	}
	return c.o.Pace(bytes)
}

// buildMap enters the keys of the dirty part, as far as the map takes them; end is how far that was.
func (c *Cleaning) buildMap(txns *cleanTxns) error {
	c.keys = newKeyMap(c.o.MapBytes, c.o.LoadFactor, c.to-c.from)
	c.end = c.from
	full := false
	for _, s := range c.segs {
		limit, end := s.bounds()
		if end <= c.from || full {
			continue
		}
		pos := int64(0)
		if s.base < c.from {
			p, ok, err := s.find(c.from, true)
			if err != nil {
				return c.lookupFailed(s, err)
			}
			if !ok {
				continue
			}
			pos = p.Pos
		}
		sc := logScan{r: s.file, size: limit, chunk: c.o.ChunkBytes}
		for pos < limit && !full {
			v, err := sc.batch(pos)
			if err != nil {
				return c.failed(s, &sc, pos, err)
			}
			c.stats.BytesRead += int64(len(v))
			if err := c.pace(len(v)); err != nil {
				return err
			}
			if full, err = c.enter(v, txns); err != nil {
				return err
			}
			pos += int64(len(v))
		}
	}
	c.stats.Keys = c.keys.used
	if !full {
		c.end = c.to
		return nil
	}
	if c.end <= c.from {
		return fmt.Errorf("%w: the batch at offset %d has more keys than the map of %d bytes takes (log.cleaner.dedupe.buffer.size)",
			ErrUncleanable, c.end, len(c.keys.slots)*keySlotBytes)
	}
	return nil
}

// enter puts the keys of one batch into the map. full: they do not fit; what was put in does no harm, for the records that
// it names are not touched.
func (c *Cleaning) enter(v batch.View, txns *cleanTxns) (full bool, err error) {
	if v.LastOffset() < c.from {
		return false, nil
	}
	aborted, err := txns.isAborted(v)
	if err != nil {
		return false, err
	}
	if v.Count() > 0 && !aborted && !v.Attributes().Control() {
		section, err := recordSection(v)
		if err != nil {
			return false, fmt.Errorf("%w: batch at offset %d: %v", ErrUncleanable, v.BaseOffset(), err)
		}
		it := batch.NewIter(section, v.Count())
		var r batch.Record
		for it.Next(&r) {
			offset := v.BaseOffset() + int64(r.OffsetDelta)
			if r.Key != nil && offset >= c.from && !c.keys.put(r.Key, offset) {
				return true, nil
			}
		}
		if it.Err() != nil {
			return false, fmt.Errorf("%w: batch at offset %d: %v", ErrUncleanable, v.BaseOffset(), it.Err())
		}
	}
	c.end = v.NextOffset()
	return false, nil
}

// groups puts neighbours together as long as the bytes and the index entries of all fit into one segment.
func (c *Cleaning) groups() ([][]*Segment, error) {
	var out [][]*Segment
	var bytes, idx, tix int64
	for _, s := range c.segs {
		if s.base >= c.end {
			break
		}
		size, end := s.bounds()
		i, t, err := s.indexSizes()
		if err != nil {
			return nil, err
		}
		n := len(out)
		if n > 0 && bytes+size <= c.segmentBytes && idx+i <= c.indexBytes && tix+t <= c.indexBytes &&
			(size == 0 || end-1-out[n-1][0].base <= math.MaxInt32) {
			out[n-1] = append(out[n-1], s)
			bytes, idx, tix = bytes+size, idx+i, tix+t
			continue
		}
		out = append(out, []*Segment{s})
		bytes, idx, tix = size, i, t
	}
	return out, nil
}

// indexSizes are the bytes of a sealed segment's index files; one that is not there is made anew when it is needed.
func (s *Segment) indexSizes() (idx, tix int64, err error) {
	if m := s.index.Load(); m != nil {
		return m.sparse.Load() * indexEntrySize, m.times.Load() * timeEntrySize, nil
	}
	for _, f := range []struct {
		suffix string
		size   *int64
	}{{suffixIndex, &idx}, {suffixTimeIndex, &tix}} {
		switch info, err := s.shared.fs.Stat(s.path(f.suffix)); {
		case err == nil:
			*f.size = info.Size()
		case !isNotExist(err):
			return 0, 0, err
		}
	}
	return idx, tix, nil
}

// cleanGroup writes a group anew and hands it over.
func (c *Cleaning) cleanGroup(segs []*Segment, b *batchCleaner, replace func(*Cleaned) (bool, error)) error {
	w, err := c.newGroup(segs)
	if err != nil {
		return err
	}
	for _, s := range segs {
		if err = c.cleanSegment(s, b, w); err != nil {
			break
		}
	}
	var g *Cleaned
	if err == nil {
		g, err = w.finish()
	}
	if err != nil {
		return errors.Join(err, w.discard())
	}
	c.stats.BytesWritten += w.st.pos
	taken, err := replace(g)
	if !taken {
		c.stats.Skipped++
		return errors.Join(err, w.discard())
	}
	c.stats.Groups++
	return err
}

// cleanSegment copies what stays of a segment.
func (c *Cleaning) cleanSegment(s *Segment, b *batchCleaner, w *groupWriter) error {
	limit, _ := s.bounds()
	sc := logScan{r: s.file, size: limit, chunk: c.o.ChunkBytes}
	for pos := int64(0); pos < limit; {
		v, err := sc.batch(pos)
		if err != nil {
			return c.failed(s, &sc, pos, err)
		}
		c.stats.BytesRead += int64(len(v))
		if err := c.pace(len(v)); err != nil {
			return err
		}
		pos += int64(len(v))
		kept, err := b.clean(v)
		if err != nil {
			return err
		}
		if kept == nil {
			continue
		}
		if err := c.pace(len(kept)); err != nil {
			return err
		}
		if err := w.add(kept); err != nil {
			return err
		}
	}
	return nil
}

// damaged notes bytes that form no batch: from pos to the next that do.
func (c *Cleaning) damaged(s *Segment, sc *logScan, pos int64, cause error) error {
	limit, end := s.bounds()
	d := Damage{File: s.path(suffixLog), Pos: pos, Len: limit - pos, FromOffset: s.base, NextOffset: end, Err: fmt.Errorf("%w: %v", ErrDamaged, cause)}
	from := logScan{r: s.file, size: limit}
	for at := int64(0); at < pos; {
		h, err := from.head(at)
		if err != nil {
			break
		}
		d.FromOffset = h.NextOffset()
		at += int64(h.Size())
	}
	q, err := sc.findValid(pos+1, d.FromOffset)
	if err != nil {
		return err
	}
	if q >= 0 {
		h, err := sc.head(q)
		if err != nil {
			return err
		}
		d.Len, d.NextOffset = q-pos, h.BaseOffset()
	}
	c.bad, c.damage = s, d
	return fmt.Errorf("%w: %w: %d bytes at %d of %s, offsets %d-%d: %v", ErrUncleanable, ErrDamaged, d.Len, d.Pos, d.File, d.FromOffset, d.NextOffset-1, cause)
}

// lookupFailed looks for the damage that a lookup met.
func (c *Cleaning) lookupFailed(s *Segment, cause error) error {
	if !errors.Is(cause, ErrDamaged) {
		return cause
	}
	limit, _ := s.bounds()
	sc := logScan{r: s.file, size: limit}
	for pos := int64(0); pos < limit; {
		v, err := sc.batch(pos)
		if err != nil {
			return c.failed(s, &sc, pos, err)
		}
		pos += int64(len(v))
	}
	return fmt.Errorf("%w: %w", ErrUncleanable, cause)
}
