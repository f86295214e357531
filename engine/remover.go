package engine

import (
	"path/filepath"
	"sync"
)

// remover takes away files of a log directory that nobody needs any more, one at a time and on a thread that gives way to the
// loops. An unlink frees every page and block of a segment, 10 ms of processor time for 64 MiB, and retention gives up segments of
// all partitions at the same moment; at the loops' priority they took turns with them, 4 ms each. Any goroutine.
type remover struct {
	dir *logDir

	mu      sync.Mutex
	queue   []removal // in the order of adding
	serving bool
}

// removal is one file to be removed.
type removal struct {
	owner *Partition // nil: of a deleted one
	// sinceMs is the wall clock when it could have been removed.
	sinceMs int64
	// do removes; with leave it only closes, and the next start removes.
	do func(leave bool)
}

// removeLagMs is how long a removal may wait before it gets the priority of everything else: a disk must not fill because the
// loops are busy.
const removeLagMs = 10_000

// add queues a removal. The caller holds up Close: as a partition that is not idle, or in Engine.background.
func (r *remover) add(w removal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, w)
	if !r.serving {
		r.serving = true
		r.dir.eng.background.Add(1)
		r.start(r.urgent(w))
	}
}

// urgent says whether a removal does not give way.
func (r *remover) urgent(w removal) bool {
	return r.leaving() || r.dir.eng.wallMs()-w.sinceMs > removeLagMs
}

// leaving says that nothing is removed any more: the engine stops, or the disk is in doubt.
func (r *remover) leaving() bool { return r.dir.eng.stopping() || !r.dir.alive() }

func (r *remover) start(urgent bool) {
	if urgent {
		go r.serve(true)
	} else {
		inBackground(func() { r.serve(false) })
	}
}

// serve removes what is queued until there is nothing, or something that wants another priority.
func (r *remover) serve(urgent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if len(r.queue) == 0 {
			r.queue, r.serving = nil, false
			r.dir.eng.background.Done()
			return
		}
		w := r.queue[0]
		if now := r.urgent(w); now != urgent {
			r.start(now)
			return
		}
		r.queue[0] = removal{}
		r.queue = r.queue[1:]
		leave := r.leaving()
		r.mu.Unlock()
		w.do(leave)
		r.mu.Lock()
	}
}

// takeBack takes a partition's removal out of the queue: whoever deletes it does not wait for others' files. Nil if none
// waits; a partition has one there at most.
func (r *remover) takeBack(p *Partition) func(leave bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, w := range r.queue {
		if w.owner == p {
			r.queue = append(r.queue[:i:i], r.queue[i+1:]...)
			return w.do
		}
	}
	return nil
}

// removeDir removes a deleted partition's directory, file by file, unless the engine stops first; then the next start does.
func (r *remover) removeDir(name string) {
	d := &doomedDir{r: r, name: name, sinceMs: r.dir.eng.wallMs()}
	r.add(removal{nil, d.sinceMs, d.turn})
}

// doomedDir is a directory under removal. Owned by its removal in the queue.
type doomedDir struct {
	r       *remover
	name    string
	sinceMs int64
	listed  bool
	files   []string
}

// turn removes one file and queues up again, or the directory after the last.
func (d *doomedDir) turn(leave bool) {
	if leave {
		return
	}
	fsys := d.r.dir.eng.fs
	if !d.listed {
		d.listed = true
		list, _ := fsys.List(d.name) // what goes wrong with single files, RemoveAll says
		for _, f := range list {
			if !f.IsDir() {
				d.files = append(d.files, filepath.Join(d.name, f.Name()))
			}
		}
	}
	if n := len(d.files); n > 0 {
		_ = fsys.Remove(d.files[n-1])
		d.files = d.files[:n-1]
		d.r.add(removal{nil, d.sinceMs, d.turn})
		return
	}
	if err := fsys.RemoveAll(d.name); err != nil {
		d.r.dir.eng.log.Warn("cannot remove a deleted partition; the next start will try", "dir", d.name, "err", err)
	}
}
