package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"millrace/segment"
)

// found is a partition directory that Load met.
type found struct {
	dir   *logDir
	topic string
	index int32
	name  string
	clean bool
	end   int64 // in the clean mark, -1 unknown
	point int64
	start int64
}

// Load opens all partitions that the log directories hold, recovering those that an unclean stop left behind; several
// at a time. It touches nothing of a partition that it cannot open. Call it once, before any other use.
func (e *Engine) Load(ctx context.Context) (LoadReport, error) {
	began := time.Now()
	l := &loader{e: e, left: map[string]bool{}}
	l.report.Dirs = len(e.dirs)
	for _, d := range e.dirs {
		if !d.alive() {
			continue
		}
		if err := l.scan(d); err != nil {
			if len(e.dirs) == 1 {
				return l.report, fmt.Errorf("log directory %s: %w", d.path, err)
			}
			d.fail(err)
		}
	}
	l.missing()
	if err := l.openAll(ctx); err != nil {
		for _, p := range l.opened {
			p.log.Abandon()
		}
		return l.report, err
	}
	l.adoptAll()
	err := l.finish()
	l.report.Partitions = len(l.opened)
	l.report.DurationMs = time.Since(began).Milliseconds()
	return l.report, err
}

// loader is the state of one Load. The mutex guards report and opened.
type loader struct {
	e       *Engine
	todo    []found
	garbage []garbage
	left    map[string]bool // names that the last clean stop left, without those that are there

	mu     sync.Mutex
	report LoadReport
	opened []*Partition
}

// garbage is the directory of a deleted partition.
type garbage struct {
	dir  *logDir
	path string
}

// scan lists the partitions of a directory and what is known about them, and takes the clean mark away.
func (l *loader) scan(d *logDir) error {
	fsys := l.e.fs
	mark, clean, err := segment.ReadCleanMark(fsys, d.path)
	if err != nil {
		l.note("%s: clean mark: %v", d.path, err)
		clean = false
	}
	if err := segment.RemoveCleanMark(fsys, d.path); err != nil {
		return err
	}
	if d.direct {
		clean = false
		l.note("%s: failed in the run before; what is above the recovery points is read past the page cache", d.path)
	}
	points := l.offsets(d, segment.RecoveryPointFile)
	starts := l.offsets(d, segment.LogStartFile)
	d.foundCleaned(l.offsets(d, segment.CleanerFile))
	ends := offsetMap(mark.Ends)
	for name := range ends {
		l.left[name] = true
	}
	entries, err := fsys.List(d.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || name == segment.MetadataDirectory || slices.Contains(l.e.opts.ReservedDirs, name) {
			continue
		}
		if segment.IsDeletedName(name) {
			l.garbage = append(l.garbage, garbage{d, d.join(name)})
			continue
		}
		topic, index, ok := segment.ParseDirName(name)
		if !ok {
			l.note("%s: not a partition, left alone", d.join(name))
			continue
		}
		f := found{dir: d, topic: topic, index: index, name: name, clean: clean, end: -1, point: points[name], start: starts[name]}
		if end, ok := ends[name]; ok {
			f.end = end
		} else if mark.Ends != nil {
			f.clean = false // not there when the mark was written
		}
		l.todo = append(l.todo, f)
	}
	return nil
}

// missing notes what the last clean stop left and no directory holds.
func (l *loader) missing() {
	for _, f := range l.todo {
		delete(l.left, f.name)
	}
	l.report.Gone = slices.Sorted(maps.Keys(l.left))
}

func (l *loader) offsets(d *logDir, name string) map[string]int64 {
	entries, err := segment.ReadOffsets(l.e.fs, d.join(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.note("%s: %v; treated as unknown", d.join(name), err)
		if name == segment.RecoveryPointFile {
			return nil // a wrong recovery point would trust what must be checked
		}
	}
	return offsetMap(entries)
}

func offsetMap(entries []segment.OffsetEntry) map[string]int64 {
	m := make(map[string]int64, len(entries))
	for _, x := range entries {
		m[segment.DirName(x.Topic, x.Partition)] = x.Offset
	}
	return m
}

func (l *loader) note(format string, args ...any) {
	l.mu.Lock()
	l.report.Notes = append(l.report.Notes, fmt.Sprintf(format, args...))
	l.mu.Unlock()
}

// openAll opens what scan found, LoadParallel at a time.
func (l *loader) openAll(ctx context.Context) error {
	var wg sync.WaitGroup
	next := make(chan found)
	for range min(l.e.opts.LoadParallel, len(l.todo)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for f := range next {
				l.open(f)
			}
		}()
	}
	var err error
	for _, f := range l.todo {
		if err = ctx.Err(); err != nil {
			break
		}
		next <- f
	}
	close(next)
	wg.Wait()
	return err
}

func (l *loader) open(f found) {
	e := l.e
	prods := newProducers(e.opts.ProducersMax)
	log, r, err := segment.Open(e.fs, segment.Params{
		Dir: f.dir.join(f.name), Topic: f.topic, Partition: f.index, Options: e.segmentOptions(e.opts.Config),
		RecoveryPoint: f.point, LogStart: f.start, Clean: f.clean, CleanEnd: f.end, Direct: f.dir.direct,
		NowMs: e.wallMs(), Producers: prods,
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.report.Failed = append(l.report.Failed, fmt.Sprintf("%s: %v", f.dir.join(f.name), err))
		l.report.Unopened = append(l.report.Unopened, f.name)
		f.dir.unopened.Store(true)
		f.dir.keepOffsets(f)
		return
	}
	l.report.ScannedBytes += r.ScannedBytes
	l.report.CutBytes += r.CutBytes
	if r.ScannedBytes > 0 {
		l.report.Unclean++
	}
	if r.CutFile != "" {
		l.report.CutFiles = append(l.report.CutFiles, r.CutFile)
	}
	for _, d := range r.Damage {
		l.report.Damage = append(l.report.Damage, fmt.Sprintf("%s at %d, %d bytes from offset %d: %v", d.File, d.Pos, d.Len, d.FromOffset, d.Err))
	}
	for _, n := range r.Notes {
		l.report.Notes = append(l.report.Notes, r.Dir+": "+n)
	}
	p := newPartition(e, f.dir, log, prods, e.opts.Config)
	p.held = e.opts.HoldRetention
	p.restoreCleaned()
	p.asOpened = f.clean && r.ScannedBytes == 0 && len(r.Notes)+len(r.Damage) == 0
	l.opened = append(l.opened, p)
}

// adoptAll gives owners out in the order of names, so that the same data is spread the same way.
func (l *loader) adoptAll() {
	e := l.e
	slices.SortFunc(l.opened, func(a, b *Partition) int {
		if c := strings.Compare(a.topic, b.topic); c != 0 {
			return c
		}
		return cmpInt64(int64(a.index), int64(b.index))
	})
	for _, p := range l.opened {
		if q := e.Lookup(p.topic, p.index); q != nil {
			l.note("%s is also in %s; that one is used, this one left alone", p.path, q.path)
			p.log.Abandon()
			p.dir.unopened.Store(true)
			p.dir.keepOffsets(found{topic: p.topic, index: p.index, point: p.recoveryPoint.Load(), start: p.pub.logStart.Load()})
			continue
		}
		e.mu.Lock()
		e.perDir[p.dir]++
		e.mu.Unlock()
		e.adopt(p)
	}
}

// finish makes the recovered state the base of the next start and clears away what was deleted before.
func (l *loader) finish() error {
	for _, d := range l.e.dirs {
		if !d.alive() {
			continue
		}
		if l.report.ScannedBytes > 0 || d.direct {
			if err := d.writeRecoveryPoints(); err != nil {
				d.fileFailed(segment.RecoveryPointFile, err)
				continue
			}
		}
		if d.direct && !d.unopened.Load() {
			if err := d.removeDeathMarks(); err != nil {
				return err
			}
		}
	}
	for _, g := range l.garbage {
		g.dir.remover.removeDir(g.path)
	}
	return nil
}

// randomHex is the unique part of a deleted directory's name.
func randomHex() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
