package engine

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"

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

	files sync.Mutex // held while a file in the root is replaced
	kick  chan struct{}
	stop  chan struct{}
	kept  chan struct{}
}

func newLogDir(e *Engine, path string) *logDir {
	return &logDir{eng: e, path: path, kick: make(chan struct{}, 1), stop: make(chan struct{}), kept: make(chan struct{})}
}

func (d *logDir) join(name string) string { return filepath.Join(d.path, name) }

// deathMark is a file beside the directory, not in it: a disk that fails may not take another byte.
func (d *logDir) deathMark() string {
	clean := filepath.Clean(d.path)
	return filepath.Join(filepath.Dir(clean), "."+filepath.Base(clean)+".millrace-failed")
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
		if merr := e.fs.WriteFileAtomic(d.deathMark(), []byte(err.Error()+"\n")); merr != nil {
			e.log.Error("cannot write the mark of a failed log directory", "mark", d.deathMark(), "err", merr)
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
	fs := d.eng.fs
	name := d.join(fmt.Sprintf(".millrace-probe-%d", n))
	f, err := fs.CreateTrunc(name)
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
	if rerr := fs.Remove(name); err == nil {
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
