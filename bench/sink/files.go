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

// append writes one batch at the end and returns its base offset.
func (s *Server) append(p *part, batch []byte) (int64, error) {
	if len(batch) < wire.BatchHeaderLen {
		return 0, fmt.Errorf("a batch of %d bytes", len(batch))
	}
	records := int64(wire.RecordCount(batch))
	base := p.next.Add(records) - records
	if p.file == nil {
		return base, nil
	}
	if base == 0 {
		p.batchLen.Store(int64(len(batch)))
		p.records.Store(records)
	}
	wire.SetBaseOffset(batch, base)
	// Two loops may append to one partition: each takes its place first. A reader may then meet a hole for a moment; nobody
	// reads a floor while it is written.
	pos := p.pos.Add(int64(len(batch))) - int64(len(batch))
	for b := batch; len(b) > 0; {
		n, err := unix.Pwrite(int(p.file.Fd()), b, pos)
		if err != nil && err != unix.EINTR {
			return 0, err
		}
		b, pos = b[max(n, 0):], pos+int64(max(n, 0))
	}
	if s.opts.Sync == SyncBackground {
		if p.unsynced.Add(int64(len(batch))) == int64(len(batch)) {
			p.since.Store(time.Now().UnixNano())
		}
		s.bytes.Add(int64(len(batch)))
	}
	return base, nil
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
