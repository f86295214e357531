package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"millrace/segment/batch"
	"millrace/vfs"
)

// cleanSuffixes are the files that a cleaned segment brings along; the log comes last, for its name speaks for the rest.
var cleanSuffixes = [...]string{suffixIndex, suffixTimeIndex, suffixSum, suffixLog}

// Cleaned is a group of segments written anew as one, under temporary names and durable, until Log.Replace takes it.
type Cleaned struct {
	segs     []*Segment
	fresh    *Segment
	cutCount int

	// committed: the .swap names are durable, the old files may go. cleared: their names have gone. Owned by the job.
	committed, cleared bool
}

// groupWriter writes one group. Owned by the cleaning.
type groupWriter struct {
	c    *Cleaning
	segs []*Segment
	base int64
	file *sharedFile
	idx  *memIndex
	st   appendState
	buf  []byte
	at   int64 // where buf goes
}

func (c *Cleaning) newGroup(segs []*Segment) (*groupWriter, error) {
	base := segs[0].base
	f, err := c.fs.CreateTrunc(fileName(segs[0].shared.dir, base, suffixLog+suffixCleaned))
	if err != nil {
		return nil, err
	}
	return &groupWriter{c: c, segs: segs, base: base, file: newSharedFile(f), idx: newMemIndex(), st: newAppendState(base)}, nil
}

// add appends a batch.
func (w *groupWriter) add(v batch.View) error {
	if w.st.pos+int64(len(v)) > math.MaxInt32 {
		return fmt.Errorf("%w: segment %d would grow past 2 GiB", ErrUncleanable, w.base)
	}
	w.st.append(w.base, v, w.segs[0].shared.interval.Load(), w.idx)
	w.buf = append(w.buf, v...)
	if len(w.buf) >= w.c.chunk() {
		return w.flush()
	}
	return nil
}

func (w *groupWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if _, err := w.file.WriteAt(w.buf, w.at); err != nil {
		return err
	}
	w.at += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// finish makes the files durable.
func (w *groupWriter) finish() (*Cleaned, error) {
	if err := w.flush(); err != nil {
		return nil, err
	}
	w.st.finishTimes(w.base, w.idx)
	if err := w.file.Datasync(); err != nil {
		return nil, err
	}
	last := w.segs[len(w.segs)-1]
	_, end := last.bounds()
	s := newSegment(last.shared, w.base, w.file)
	s.setEnd(w.st.pos, end)
	s.maxTs.Store(w.st.maxTs)
	s.index.Store(w.idx)
	s.used.Store(true)
	s.frozen.Store(true)

	sm := s.sumOf(&w.st, unknownSnapshot)
	sm.End, sm.Sealed = end, true
	sn := w.idx.snap()
	idx, tix := sn.encodeIndex(0, int(sm.IndexEntries)), sn.encodeTimes(0, int(sm.TimeEntries))
	sm.setDigests(idx, tix)
	for _, f := range []struct {
		suffix string
		data   []byte
	}{{suffixIndex, idx}, {suffixTimeIndex, tix}, {suffixSum, sm.encode()}} {
		if err := writeSynced(w.c.fs, s.path(f.suffix)+suffixCleaned, f.data); err != nil {
			return nil, err
		}
	}
	return &Cleaned{segs: w.segs, fresh: s, cutCount: w.c.cutCount}, nil
}

// discard removes the files of a group that will not replace anything.
func (w *groupWriter) discard() error {
	first := w.file.drop()
	for _, suffix := range cleanSuffixes {
		if err := removeIfThere(w.c.fs, fileName(w.segs[0].shared.dir, w.base, suffix+suffixCleaned)); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (c *Cleaning) chunk() int {
	if c.o.ChunkBytes > 0 {
		return int(c.o.ChunkBytes)
	}
	return scanBufBytes
}

// writeSynced makes a file and its content durable, but not its name.
func writeSynced(fsys vfs.FS, name string, data []byte) error {
	f, err := fsys.CreateTrunc(name)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(data, 0); err == nil {
		err = f.Datasync()
	}
	return errors.Join(err, f.Close())
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// renameIfThere renames a file that an earlier attempt may have renamed already.
func renameIfThere(fsys vfs.FS, from, to string) error {
	if err := fsys.Rename(from, to); err != nil && !isNotExist(err) {
		return err
	}
	return nil
}

// run puts the new files in the place of the old ones. Killed at any step it leaves either the old segments whole (some
// .cleaned file or no .log.swap is durable) or a .log.swap that is whole, and recovery finishes the rest. It may be
// repeated.
func (g *Cleaned) run() error {
	s := g.fresh
	fsys, dir := s.shared.fs, s.shared.dir
	if !g.committed {
		for _, suffix := range cleanSuffixes {
			if err := renameIfThere(fsys, s.path(suffix)+suffixCleaned, s.path(suffix)+suffixSwap); err != nil {
				return err
			}
		}
		if err := fsys.SyncDir(dir); err != nil {
			return err
		}
		g.committed = true
	}
	if !g.cleared {
		for _, old := range g.segs {
			old.renamed.Store(true)
			for _, suffix := range []string{suffixLog, suffixIndex, suffixTimeIndex, suffixTxnIndex, suffixSum, suffixDamage} {
				if err := renameIfThere(fsys, old.path(suffix), old.path(suffix)+suffixDeleted); err != nil {
					return err
				}
			}
		}
		// Recovery learns from the side file how much the swap covers; that keeps its name until the old ones are gone.
		if err := fsys.SyncDir(dir); err != nil {
			return err
		}
		g.cleared = true
	}
	for _, suffix := range cleanSuffixes {
		if err := renameIfThere(fsys, s.path(suffix)+suffixSwap, s.path(suffix)); err != nil {
			return err
		}
	}
	return fsys.SyncDir(dir)
}

// Replace queues the JobReplace that puts g in the place of its segments; when it is done the view has changed. False,
// and nothing has happened, if the segments are no longer all there. From true on g belongs to the log.
func (l *Log) Replace(g *Cleaned) bool {
	if l.closed || l.busy || l.replacing != nil || g.cutCount != l.cutCount || l.indexOf(g.segs) < 0 {
		return false
	}
	l.replacing = g
	l.queueReplace(g)
	return true
}

// Gone says that no segment of a group is in the view any more, so that nothing is left of it to be cleaned.
func (l *Log) Gone(g *Cleaned) bool {
	return !slices.ContainsFunc(l.view.Load().segs, func(s *Segment) bool { return slices.Contains(g.segs, s) })
}

// indexOf is where the segments stand in the view, side by side; -1 if they do not.
func (l *Log) indexOf(segs []*Segment) int {
	all := l.view.Load().segs
	for i := range all {
		if all[i] != segs[0] {
			continue
		}
		if i+len(segs) >= len(all) {
			return -1
		}
		for j, s := range segs {
			if all[i+j] != s {
				return -1
			}
		}
		return i
	}
	return -1
}

func (l *Log) queueReplace(g *Cleaned) {
	l.queue(JobReplace, LaneNames, g.run, func(j *Job) {
		if j.Err != nil {
			if IsNoSpace(j.Err) {
				l.retryReplace = g
			}
			return // else the directory is in doubt
		}
		l.replacing = nil
		l.replaced(g)
	})
}

// replaced publishes a replacement that is durable.
func (l *Log) replaced(g *Cleaned) {
	all := l.view.Load().segs
	i := l.indexOf(g.segs)
	last := g.segs[len(g.segs)-1]
	pos, end := g.fresh.bounds()
	g.fresh.own = ownerState{named: true, sealed: true, syncPos: pos, syncEnd: end, checkPos: pos, modMs: last.own.modMs}
	segs := append([]*Segment(nil), all[:i]...)
	segs = append(segs, g.fresh)
	segs = append(segs, all[i+len(g.segs):]...)
	for _, s := range g.segs {
		s.own.deleteAt = l.nowMs + l.opts.FileDeleteDelayMs
	}
	l.removing = append(l.removing, g.segs...)
	l.reaped = true
	l.publish(segs)
	l.pruneSnapshots()
}

// NoteDamage keeps readers away from the damage that a cleaning has met, now and after the next start: detected damage is
// never served. False if there was none or its segment is gone.
func (l *Log) NoteDamage(c *Cleaning) (Damage, bool) {
	s, d := c.bad, c.damage
	if s == nil || l.closed || l.busy || l.replacing != nil || c.cutCount != l.cutCount {
		return d, false
	}
	i := l.indexOf([]*Segment{s})
	if i < 0 {
		return d, false
	}
	out := newSegment(s.shared, s.base, s.file.retain())
	out.damage = []Damage{d}
	out.setEnd(s.bounds())
	out.maxTs.Store(s.maxTs.Load())
	out.index.Store(s.index.Load())
	out.frozen.Store(true)
	out.own = s.own
	segs := append([]*Segment(nil), l.view.Load().segs...)
	segs[i] = out
	s.own.keepNames = true
	l.removing = append(l.removing, s)
	l.publish(segs)
	fsys, dir := l.sh.fs, l.sh.dir
	l.queue(JobDamage, LaneNames, func() error {
		if err := writeDurable(fsys, out.path(suffixDamage), formatDamage(out.damage)); err != nil {
			return err
		}
		return fsys.SyncDir(dir)
	}, nil)
	return d, true
}
