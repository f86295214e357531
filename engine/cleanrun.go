package engine

import (
	"errors"
	"fmt"
	"time"

	"millrace/segment"
)

// cleanRun is one cleaning of one partition. Its goroutine owns it; abort is closed by the partition's owner.
type cleanRun struct {
	c *cleaner
	p *Partition
	o *CleanerOptions

	abort    chan struct{}
	aborted  bool       // owner loop only: abort is closed
	replaced chan error // how the JobReplace ended

	unpaced  int // bytes since pace last looked
	cleaning *segment.Cleaning
}

// errNothing: there is nothing to clean any more.
var errNothing = errors.New("engine: nothing to clean")

// run does the whole cleaning and ends it.
func (r *cleanRun) run() {
	p := r.p
	if !r.onOwner(func() bool { return p.beginClean(r) }) {
		return
	}
	began := time.Now()
	stats, err := r.clean()
	var to int64
	r.onOwner(func() bool {
		p.endClean(r, err)
		to = p.log.CleanedTo()
		return true
	})
	r.c.read.AddShared(stats.BytesRead)
	r.c.written.AddShared(stats.BytesWritten)
	switch {
	case err == nil:
		r.c.runs.AddShared(1)
		r.c.lastMs.Store(p.eng.wallMs())
		p.eng.log.Info("cleaned", "partition", p.String(), "clean_to", to, "bytes_read", stats.BytesRead, "bytes_written", stats.BytesWritten,
			"records_read", stats.RecordsRead, "records_kept", stats.RecordsWritten, "keys", stats.Keys, "without_key", stats.InvalidRecords,
			"segments", stats.Groups, "took", time.Since(began))
		if werr := p.dir.writeCleaned(); werr != nil {
			p.dir.fileFailed(segment.CleanerFile, werr)
		}
	default:
		r.failed(err)
	}
}

// failed judges how a cleaning ended that did not come to its end.
func (r *cleanRun) failed(err error) {
	p := r.p
	p.cleanAfterMs.Store(p.eng.wallMs() + r.o.BackoffMs)
	switch {
	case errors.Is(err, errNothing), errors.Is(err, segment.ErrAborted), p.Err() != nil:
	case errors.Is(err, segment.ErrUncleanable):
		p.uncleanable.Store(true)
		p.eng.log.Error("a partition cannot be compacted: its data is kept as it is, until a restart", "partition", p.String(), "err", err)
	case errors.Is(err, errBusy), errors.Is(err, ErrStorageFull), noSpace(err):
		p.eng.log.Warn("cleaning put off", "partition", p.String(), "err", err)
	default:
		p.dir.fail(fmt.Errorf("cleaning %s: %w", p.String(), err))
	}
}

// onOwner runs fn on the owner loop and waits for it.
func (r *cleanRun) onOwner(fn func() bool) (ok bool) {
	done := make(chan struct{})
	r.p.post(func() {
		ok = fn()
		close(done)
	})
	<-done
	return ok
}

// beginClean notes that a cleaning is under way. Owner only.
func (p *Partition) beginClean(r *cleanRun) bool {
	if p.closed || p.draining || p.Err() != nil || p.cleanRun != nil || !p.config.Load().Compact {
		return false
	}
	p.cleanRun = r
	return true
}

// abortClean tells a cleaning to stop soon. Owner only.
func (p *Partition) abortClean() {
	if r := p.cleanRun; r != nil && !r.aborted {
		r.aborted = true
		close(r.abort)
	}
}

// endClean takes a cleaning's end into account. Owner only.
func (p *Partition) endClean(r *cleanRun, err error) {
	p.cleanRun = nil
	if r.cleaning != nil {
		if errors.Is(err, segment.ErrDamaged) && p.Err() == nil {
			p.log.NoteDamage(r.cleaning)
		}
		p.log.EndClean(r.cleaning, err == nil)
	}
	if err == nil {
		p.cleanedTo.Store(p.log.CleanedTo())
	}
	p.shard.touch(p)
}

func (r *cleanRun) clean() (segment.CleanStats, error) {
	if err := r.checkpoint(); err != nil {
		return segment.CleanStats{}, err
	}
	ok := r.onOwner(func() bool {
		p := r.p
		if p.Err() != nil || p.closed {
			return false
		}
		nowMs := p.eng.wallMs()
		limits := p.cleanLimits(nowMs)
		r.cleaning = p.log.BeginClean(p.log.Cleanable(limits), segment.CleanSettings{
			NowMs: nowMs, DeleteRetentionMs: p.config.Load().DeleteRetentionMs, Stable: limits.Stable,
			MapBytes: r.o.DedupeBytes / int64(r.o.Threads), LoadFactor: r.o.LoadFactor, ChunkBytes: max(r.o.BufferBytes/int64(r.o.Threads)/2, 4<<10),
			Producers: p.producers.entries(), Pace: r.pace,
		})
		select {
		case <-r.replaced: // of a run before this one
		default:
		}
		return r.cleaning != nil
	})
	if !ok {
		return segment.CleanStats{}, errNothing
	}
	return r.cleaning.Run(r.replace)
}

// checkpoint moves the recovery point, on disk, above what is to be cleaned, so that no start has to scan rewritten
// segments, nor finds fewer of a producer's batches than were acknowledged.
func (r *cleanRun) checkpoint() error {
	p := r.p
	for try := 0; ; try++ {
		ended := make(chan error, 1)
		need := r.onOwner(func() bool {
			if p.Err() != nil || p.closed {
				ended <- segment.ErrAborted
				return true
			}
			k := p.log.Cleanable(p.cleanLimits(p.eng.wallMs()))
			k.Release()
			if k.To <= p.log.RecoveryPoint() {
				return false
			}
			p.beginCheckpoint(func(_ int64, err error) { ended <- err })
			return true
		})
		if !need {
			break
		}
		err := <-ended
		if err == nil {
			break
		}
		if !errors.Is(err, errBusy) || try == 20 {
			return err
		}
		if err := r.sleep(time.Duration(try+1) * 10 * time.Millisecond); err != nil {
			return err
		}
	}
	if err := p.dir.writeRecoveryPoints(); err != nil {
		p.dir.fileFailed(segment.RecoveryPointFile, err)
		return errors.Join(segment.ErrAborted, err)
	}
	return nil
}

// replace has the owner put a group in its place, and waits until that is durable and published. From the moment the log
// has the group it is the log's, whether we wait or not. A group that is not taken may be skipped only if all of it is gone:
// what stays uncleaned must not count as clean, or its keys would outlive their tombstones.
func (r *cleanRun) replace(g *segment.Cleaned) (taken bool, err error) {
	p := r.p
	if err := r.pace(0); err != nil {
		return false, err
	}
	gone := false
	taken = r.onOwner(func() bool {
		if p.Err() != nil || p.closed {
			return false
		}
		if !p.log.Replace(g) {
			gone = p.log.Gone(g)
			return false
		}
		p.shard.touch(p)
		return true
	})
	if !taken {
		if gone {
			return false, nil
		}
		return false, segment.ErrAborted
	}
	began := time.Now()
	select {
	case err = <-r.replaced:
		if err == nil { // given up or not, the group is in its place
			_ = r.sleep(min(restFactor*time.Since(began), restMax))
		}
		return true, err
	case <-r.abort:
	case <-r.c.stop:
	}
	return true, segment.ErrAborted
}

// After a swap the cleaning leaves the disk alone for some times as long as the swap's syncs took: with small segments it would
// else do little but sync, and every producer that waits for a sync would wait for these too.
const (
	restFactor = 10
	restMax    = 500 * time.Millisecond
)

// cleanReplaced tells the cleaning how its JobReplace ended. One that found no space is tried again by the log. Owner only.
func (p *Partition) cleanReplaced(err error) {
	if r := p.cleanRun; r != nil && !noSpace(err) {
		select {
		case r.replaced <- err:
		default:
		}
	}
}

// paceBytes is how much is moved between two looks at abort and rate.
const paceBytes = 64 << 10

// pace keeps to the rate, and ends the cleaning when it is told to stop.
func (r *cleanRun) pace(n int) error {
	r.unpaced += n
	if n > 0 && r.unpaced < paceBytes {
		return nil
	}
	moved := r.unpaced
	r.unpaced = 0
	return r.sleep(r.c.rate.reserve(moved, r.c.opts.Load().BytesPerSecond))
}

// sleep waits, or says that the cleaning was aborted.
func (r *cleanRun) sleep(d time.Duration) error {
	if d < time.Millisecond {
		select {
		case <-r.abort:
			return segment.ErrAborted
		case <-r.c.stop:
			return segment.ErrAborted
		default:
			return nil
		}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.abort:
		return segment.ErrAborted
	case <-r.c.stop:
		return segment.ErrAborted
	case <-t.C:
		return nil
	}
}
