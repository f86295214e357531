package engine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// remover takes away files that nobody needs any more, one at a time and on a thread that gives way to the loops. An unlink
// frees every page and block of a segment, 10 ms of processor time for 64 MiB, and retention gives up segments of all partitions
// at the same moment; at the loops' priority they took turns with them, 4 ms each. Any goroutine.
type remover struct {
	eng *Engine

	mu      sync.Mutex
	queue   []removal // the longest waiting first
	serving bool
}

// removal is one file or directory to be removed; leave says that the engine stops and the next start shall do it.
type removal struct {
	since time.Time
	do    func(leave bool)
}

// removeLag is how long a removal may wait behind others before it gets the priority of everything else: a disk must not fill
// because the loops are busy.
const removeLag = 10 * time.Second

// push queues a removal. The caller holds up Close: as a partition that is not idle, or in Engine.background.
func (r *remover) push(do func(leave bool)) { r.add(removal{time.Now(), do}) }

func (r *remover) add(w removal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, w)
	if !r.serving {
		r.serving = true
		r.eng.background.Add(1)
		r.start(r.queue[0].late())
	}
}

func (w *removal) late() bool { return time.Since(w.since) > removeLag }

func (r *remover) start(late bool) {
	if late {
		go r.serve(true)
	} else {
		inBackground(func() { r.serve(false) })
	}
}

// serve removes what is queued until there is nothing, or something that wants another priority.
func (r *remover) serve(late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if len(r.queue) == 0 {
			r.queue, r.serving = nil, false
			r.eng.background.Done()
			return
		}
		w := r.queue[0]
		leave := r.eng.stopping()
		if now := w.late() || leave; now != late {
			r.start(now)
			return
		}
		r.queue[0] = removal{}
		r.queue = r.queue[1:]
		r.mu.Unlock()
		w.do(leave)
		r.mu.Lock()
	}
}

// stopping says whether Close has begun.
func (e *Engine) stopping() bool {
	select {
	case <-e.stop:
		return true
	default:
		return false
	}
}

// removeDir removes a deleted partition's directory unless the engine stops first; then the next start does.
func (r *remover) removeDir(dir string) {
	r.push(func(leave bool) {
		if leave {
			return
		}
		if err := r.unlinkAll(dir); err != nil {
			r.eng.log.Warn("cannot remove a deleted partition; the next start will try", "dir", dir, "err", err)
		}
	})
}

// unlinkAll empties the directory file by file, so that a stop waits for one at most, and removes it.
func (r *remover) unlinkAll(dir string) error {
	files, err := r.eng.fs.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if r.eng.stopping() {
			return nil
		}
		if f.IsDir() {
			continue
		}
		if err := r.eng.fs.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return r.eng.fs.RemoveAll(dir)
}
