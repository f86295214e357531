package engine

import (
	"slices"
	"sync"
	"time"

	"millrace/segment"
)

// Recovery points (decisions 9): a keeper per log directory checkpoints the partitions with most bytes above theirs
// until the directory's sum is low enough. The order is log sync, indexes, producer snapshot (a segment job), then the
// recovery-point file.

// noteUnrecovered keeps the sum that wakes the keeper.
func (p *Partition) noteUnrecovered() {
	n := p.log.UncheckpointedBytes()
	total := p.dir.unrecovered.Add(n - p.unrecovered.Load())
	p.unrecovered.Store(n)
	if total > p.dir.unrecoveredMax() {
		p.dir.wakeKeeper()
	}
}

// beginCheckpoint makes a checkpoint of all that is written; done runs on the owner loop. Owner only.
func (p *Partition) beginCheckpoint(done func(point int64, err error)) {
	if err := p.Err(); err != nil {
		done(0, err)
		return
	}
	if p.checkpoint != nil {
		done(0, errBusy)
		return
	}
	if !p.log.Checkpoint(p.snapshotDue()) {
		done(0, errBusy)
		return
	}
	p.checkpoint = done
	p.producers.changed = false
	p.shard.touch(p)
}

// snapshotDue is the producer state where a checkpoint must write it, nil where the last snapshot still tells it. Not nil
// without producers, too: a log whose state no snapshot tells would be scanned at every start.
func (p *Partition) snapshotDue() []segment.ProducerEntry {
	if p.producers.changed || p.log.WantsSnapshot() {
		return p.producers.entries()
	}
	return nil
}

// endCheckpoint tells whoever asked.
func (p *Partition) endCheckpoint(point int64, err error) {
	done := p.checkpoint
	if done == nil {
		return
	}
	p.checkpoint = nil
	if err == nil {
		p.recoveryPoint.Store(point)
		p.dir.unrecorded.Add(max(0, p.unrecovered.Load()-p.log.UncheckpointedBytes())) // before the other sum falls
		p.noteUnrecovered()
		p.shard.st.checkpoints.Inc()
	}
	done(point, err)
}

// unrecoveredMax wakes the keeper. What is written while its checkpoints are under way comes on top.
func (d *logDir) unrecoveredMax() int64 { return keeperWakes(d.eng.opts.UnsyncedBytesMax) }

func keeperWakes(bound int64) int64 { return bound / 8 * 7 }

// keeperPause is how long the keeper waits after an attempt that did nothing.
const keeperPause = time.Second

// keep is the keeper's goroutine.
func (d *logDir) keep() {
	defer close(d.kept)
	for {
		select {
		case <-d.stop:
			return
		case <-d.kick:
		}
		for d.dead.Load() == nil && d.unrecovered.Load() > d.unrecoveredMax() {
			if d.checkpointMost() {
				continue
			}
			// The partitions were busy, or the disk is full: nobody else would ask again.
			select {
			case <-d.stop:
				return
			case <-time.After(keeperPause):
			}
		}
	}
}

func (d *logDir) wakeKeeper() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// checkpointMost checkpoints the partitions with most bytes above their recovery points. A checkpoint costs five syncs and
// more, whatever it covers: partitions with many bytes are taken one by one, as late as can be; where small ones hold most,
// so many at once that the next time is far off. Then the recovery-point file is written. False when nothing could be done.
func (d *logDir) checkpointMost() bool {
	parts := d.partitions()
	slices.SortFunc(parts, func(a, b *Partition) int {
		return cmpInt64(b.unrecovered.Load(), a.unrecovered.Load())
	})
	sizes := make([]int64, 0, len(parts))
	for _, p := range parts {
		if size := p.unrecovered.Load(); size > 0 {
			sizes = append(sizes, size)
		}
	}
	n := checkpointsWanted(sizes, d.eng.opts.UnsyncedBytesMax)
	ok := d.checkpointAll(parts[:n])
	for tries := 0; ok == 0 && n < len(sizes) && tries < 16; tries++ { // those were busy: the next one then
		ok = d.checkpointAll(parts[n : n+1])
		n++
	}
	if ok > 0 {
		if err := d.writeRecoveryPoints(); err != nil {
			d.fileFailed(segment.RecoveryPointFile, err)
			return false
		}
	}
	return ok > 0
}

// checkpointsWanted is how many of the partitions, largest first, are to be checkpointed; at least one if there is any.
func checkpointsWanted(sizes []int64, bound int64) (n int) {
	sum, small := int64(0), int64(0)
	for _, size := range sizes {
		sum += size
		if size < bound/16 {
			small += size
		}
	}
	upTo := keeperWakes(bound)
	if small > bound/2 {
		upTo = bound / 2
	}
	for n < len(sizes) && (n == 0 || sum > upTo) {
		sum -= sizes[n]
		n++
	}
	return n
}

// checkpointAll checkpoints some partitions, a few at a time, and says how many succeeded.
func (d *logDir) checkpointAll(parts []*Partition) (ok int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	if len(parts) > d.eng.opts.SyncFSAbove {
		if err := d.eng.fs.SyncFS(d.path); err != nil {
			d.fail(err)
			return 0
		}
	}
	for _, p := range parts {
		slots <- struct{}{}
		wg.Add(1)
		p.post(func() {
			p.beginCheckpoint(func(_ int64, err error) {
				mu.Lock()
				if err == nil {
					ok++
				}
				mu.Unlock()
				<-slots
				wg.Done()
			})
		})
	}
	wg.Wait()
	return ok
}

// unrecoveredOnDisk is how many bytes a start after a kill would read again: a recovery point counts when the file says it.
func (d *logDir) unrecoveredOnDisk() int64 {
	n := d.unrecovered.Load() // first: a checkpoint that ends raises the other before this falls
	return n + d.unrecorded.Load()
}

// writeRecoveryPoints replaces the directory's recovery-point file.
func (d *logDir) writeRecoveryPoints() error {
	d.files.Lock()
	defer d.files.Unlock()
	told := d.unrecorded.Load() // first: the points behind it are stored, so the file says them
	err := d.writeOffsets(segment.RecoveryPointFile, d.closedPoints, func(p *Partition) int64 { return p.recoveryPoint.Load() })
	if err == nil {
		d.unrecorded.Add(-told)
	}
	return err
}

// writeLogStarts replaces the directory's log-start file.
func (d *logDir) writeLogStarts() error {
	d.files.Lock()
	defer d.files.Unlock()
	return d.writeOffsets(segment.LogStartFile, d.closedStarts, func(p *Partition) int64 {
		return max(p.pub.logStart.Load(), p.startWanted.Load())
	})
}

// writeOffsets writes one of the files: what is open by of, what is not as it was found. The caller holds files.
func (d *logDir) writeOffsets(name string, closed []segment.OffsetEntry, of func(*Partition) int64) error {
	parts := d.partitions()
	entries := make([]segment.OffsetEntry, 0, len(parts)+len(closed))
	for _, p := range parts {
		entries = append(entries, segment.OffsetEntry{Topic: p.topic, Partition: p.index, Offset: of(p)})
	}
	entries = append(entries, closed...)
	return segment.WriteOffsets(d.eng.fs, d.join(name), entries)
}
