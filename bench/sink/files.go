package sink

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"millrace/bench/wire"
)

const (
	syncAge   = time.Second
	syncBytes = 256 << 20
)

// gather are the batches of one turn that follow one another in one partition: they become one vectored write, as in the
// broker. Owned by its loop.
type gather struct {
	part      *part
	bufs      [][]byte
	pos, size int64
}

// place gives a batch its offset and its place in the file, both in one step: another loop may append to the partition too.
func (p *part) place(batch []byte) (base, pos int64, err error) {
	if len(batch) < wire.BatchHeaderLen {
		return 0, 0, fmt.Errorf("a batch of %d bytes", len(batch))
	}
	records := int64(wire.RecordCount(batch))
	p.mu.Lock()
	defer p.mu.Unlock()
	base, pos = p.next.Load(), p.pos
	p.next.Store(base + records)
	if p.file != nil {
		p.pos += int64(len(batch))
		if base == 0 {
			p.batchLen.Store(int64(len(batch)))
			p.records.Store(records)
		}
		wire.SetBaseOffset(batch, base)
	}
	return base, pos, nil
}

// wrote lets readers see what was written, once nothing is missing before it.
func (p *part) wrote(pos, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pos != p.readable.Load() {
		if p.landed == nil {
			p.landed = map[int64]int64{}
		}
		p.landed[pos] = n
		return
	}
	for ok := true; ok; n, ok = p.landed[pos] {
		delete(p.landed, pos)
		pos += n
	}
	p.readable.Store(pos)
}

// append adds a batch to the turn's write of its partition; the batch must stay as it is until the end of the turn.
func (l *loop) append(p *part, batch []byte) (int64, error) {
	base, pos, err := p.place(batch)
	if err != nil || p.file == nil {
		return base, err
	}
	for _, g := range l.turn[:l.used] {
		if g.part == p && g.pos+g.size == pos {
			g.bufs, g.size = append(g.bufs, batch), g.size+int64(len(batch))
			return base, nil
		}
	}
	if l.used == len(l.turn) {
		l.turn = append(l.turn, &gather{})
	}
	g := l.turn[l.used]
	l.used++
	g.part, g.bufs, g.pos, g.size = p, append(g.bufs[:0], batch), pos, int64(len(batch))
	return base, nil
}

// write makes the one write.
func (g *gather) write(s *Server) error {
	pos := g.pos
	left := g.bufs
	for len(left) > 0 {
		n, err := unix.Pwritev(int(g.part.file.Fd()), left[:min(len(left), 1024)], pos)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		pos += int64(n)
		for n > 0 && n >= len(left[0]) {
			n -= len(left[0])
			left = left[1:]
		}
		if n > 0 {
			left[0] = left[0][n:]
		}
	}
	g.part.wrote(g.pos, g.size)
	if s.opts.Sync == SyncBackground {
		if g.part.unsynced.Add(g.size) == g.size {
			g.part.since.Store(time.Now().UnixNano())
		}
		s.bytes.Add(g.size)
	}
	return nil
}

// syncLoop syncs what is older than a second, and everything when there is too much of it.
func (s *Server) syncLoop() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		all := s.bytes.Load() > syncBytes
		limit := time.Now().Add(-syncAge).UnixNano()
		for _, p := range s.dirty() {
			if all || p.since.Load() < limit {
				s.bytes.Add(-p.unsynced.Swap(0))
				_ = unix.Fdatasync(int(p.file.Fd())) // fails only if the topic was dropped meanwhile, or the disk died
			}
		}
	}
}

func (s *Server) dirty() []*part {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []*part
	for _, t := range s.topics {
		for _, p := range t.parts {
			if p.unsynced.Load() > 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// syncAll makes a turn's appends durable: one after the other if there are few, side by side if there are many.
func syncAll(files []*os.File) error {
	if len(files) == 1 {
		return unix.Fdatasync(int(files[0].Fd()))
	}
	var wait sync.WaitGroup
	errs := make([]error, min(16, len(files)))
	for w := range errs {
		wait.Go(func() {
			for i := w; i < len(files); i += len(errs) {
				if err := unix.Fdatasync(int(files[i].Fd())); err != nil {
					errs[w] = err
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
