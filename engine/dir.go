package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"millrace/internal/metric"
	"millrace/segment"
)

// logDir is one log directory. Any goroutine.
type logDir struct {
	eng  *Engine
	path string
	meta segment.Meta
	lock io.Closer

	// dead is why the directory can no longer be used; nil while it can.
	dead atomic.Pointer[failure]
	// direct: it died in the run before, so that the page cache may show what the disk lacks.
	direct bool
	// unopened: it holds a partition that Load could not open.
	unopened atomic.Bool

	unsynced    atomic.Int64 // bytes written and not synced
	unrecovered atomic.Int64 // bytes above the recovery points
	unrecorded  atomic.Int64 // bytes below recovery points that the file does not say yet

	files sync.Mutex // held while a file in the root is replaced
	// What the files say of partitions that are there and not open; guarded by files.
	closedPoints, closedStarts []segment.OffsetEntry
	// What the cleaner's checkpoint said at the start, and whom it speaks of now; guarded by files.
	cleanedFound map[string]int64
	cleanedNames map[string]bool

	remover remover

	kick chan struct{}
	stop chan struct{}
	kept chan struct{}
}

func newLogDir(e *Engine, path string) *logDir {
	d := &logDir{eng: e, path: path, kick: make(chan struct{}, 1), stop: make(chan struct{}), kept: make(chan struct{})}
	d.remover.dir = d
	return d
}

func (d *logDir) join(name string) string { return filepath.Join(d.path, name) }

// deathMarks are the files that say that the directory died: one beside it, and one in each other log directory. None
// is inside it: a disk that fails may not take another byte.
func (d *logDir) deathMarks() []string {
	clean := filepath.Clean(d.path)
	marks := []string{filepath.Join(filepath.Dir(clean), "."+filepath.Base(clean)+".millrace-failed")}
	for _, other := range d.eng.opts.Dirs {
		if o := filepath.Clean(other); o != clean {
			marks = append(marks, filepath.Join(o, fmt.Sprintf(".millrace-failed-%016x", xxhash.Sum64String(clean))))
		}
	}
	return marks
}

// writeDeathMarks writes the marks, at least one of which must succeed.
func (d *logDir) writeDeathMarks(cause error) error {
	var first error
	ok := false
	for _, mark := range d.deathMarks() {
		if err := d.eng.fs.WriteFileAtomic(mark, []byte(d.path+": "+cause.Error()+"\n")); err == nil {
			ok = true
		} else if first == nil {
			first = err
		}
	}
	if ok {
		return nil
	}
	return first
}

func (d *logDir) removeDeathMarks() error {
	for _, mark := range d.deathMarks() {
		if err := d.eng.fs.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// keepOffsets remembers the checkpointed offsets of a partition that is not open, so that the files go on saying them.
func (d *logDir) keepOffsets(f found) {
	d.files.Lock()
	defer d.files.Unlock()
	d.closedPoints = append(d.closedPoints, segment.OffsetEntry{Topic: f.topic, Partition: f.index, Offset: f.point})
	d.closedStarts = append(d.closedStarts, segment.OffsetEntry{Topic: f.topic, Partition: f.index, Offset: f.start})
}

// registerMetrics shows the directory's levels.
func (d *logDir) registerMetrics(r *metric.Registry) {
	dir := metric.Label{Name: "dir", Value: d.path}
	r.GaugeFunc("millrace_engine_unsynced_bytes", "Bytes written and not synced.", func() float64 { return float64(d.unsynced.Load()) }, dir)
	r.GaugeFunc("millrace_engine_unrecovered_bytes", "Bytes above the recovery points on disk: what a start after a kill reads again.", func() float64 { return float64(d.unrecoveredOnDisk()) }, dir)
	r.GaugeFunc("millrace_engine_dir_online", "1 while the log directory can be used.", func() float64 {
		if d.alive() {
			return 1
		}
		return 0
	}, dir)
}

// fail takes the directory away until a restart. Any goroutine; only the first call does anything.
func (d *logDir) fail(err error) {
	if !d.dead.CompareAndSwap(nil, &failure{err}) {
		return
	}
	e := d.eng
	e.log.Error("log directory failed: its partitions are offline until a restart", "dir", d.path, "err", err)
	for _, s := range e.shards {
		s.loop.PostFunc(func() {
			for p := range s.parts {
				if p.dir == d {
					p.offline()
				}
			}
		})
	}
	e.background.Add(1)
	go func() {
		defer e.background.Done()
		if merr := d.writeDeathMarks(err); merr != nil {
			e.log.Error("cannot write the mark of a failed log directory: restart the machine before using it again",
				"dir", d.path, "marks", d.deathMarks(), "err", merr)
		}
		if f := e.opts.DirFailed; f != nil {
			f(d.path, err)
		}
	}()
}

// fileFailed judges an error of a file in the directory's root.
func (d *logDir) fileFailed(name string, err error) {
	if noSpace(err) {
		d.eng.log.Error("no space", "dir", d.path, "file", name, "err", err)
		return
	}
	d.fail(fmt.Errorf("%s: %w", name, err))
}

// probe writes and syncs a small file to see whether there is space. It blocks.
func (d *logDir) probe(n int) (err error) {
	fsys := d.eng.fs
	name := d.join(fmt.Sprintf(".millrace-probe-%d", n))
	f, err := fsys.CreateTrunc(name)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, 256<<10), 0)
	if err == nil {
		err = f.Datasync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if rerr := fsys.Remove(name); err == nil {
		err = rerr
	}
	return err
}

// partitions are those in this directory.
func (d *logDir) partitions() []*Partition {
	var out []*Partition
	for _, p := range d.eng.list() {
		if p.dir == d {
			out = append(out, p)
		}
	}
	return out
}

func (d *logDir) alive() bool { return d.dead.Load() == nil }
