package engine

import (
	"millrace/netpoll"
)

// restedNs: a file written less long ago has its last page in the page cache.
const restedNs = 1e9

// writeDone is the completer of a partition's write op.
type writeDone struct{ p *Partition }

// flush does what the turn left to do in this partition: stage what waited, write, roll, hand out jobs, ask for a sync.
// Owner only.
func (p *Partition) flush() {
	if p.closed {
		return
	}
	for p.Err() == nil {
		p.restage()
		p.submitWrite()
		if !p.log.WantRoll() || !p.log.CanRoll() {
			break
		}
		p.log.Roll(p.producers.entries())
		p.producers.changed, p.asOpened = false, false
		p.shard.st.rolls.Inc()
	}
	p.runJobs()
	p.considerSync()
	p.considerIdle()
}

// submitWrite starts the write built so far, unless one is in flight.
func (p *Partition) submitWrite() {
	if p.write != nil || p.Err() != nil {
		return
	}
	w := p.log.TakeWrite()
	if w == nil {
		return
	}
	p.write = w
	op := &p.writeOp
	now := p.shard.loop.NowNs()
	op.Rested = p.wroteNs == 0 || now-p.wroteNs > restedNs
	p.wroteNs = now
	op.Kind, op.File, op.Off, op.Iov, op.Done = netpoll.OpWritev, w.File, w.Off, w.Iov, p.writer
	p.shard.st.writes.Inc()
	p.shard.loop.Submit(op)
}

// OpDone is the end of a write.
func (d writeDone) OpDone(op *netpoll.Op) {
	p := d.p
	w := p.write
	p.write = nil
	op.Iov = nil
	p.shard.touch(p)
	batches, bytes := int64(w.Batches), w.Bytes // the log takes w back
	ok := p.log.WriteDone(w, op.N, op.Err)
	if !ok {
		p.writeFailed(op.Err)
		return
	}
	if p.Err() != nil {
		p.failUnwritten(p.Err())
		return
	}
	p.shard.st.appends.Add(batches)
	p.shard.st.bytes.Add(bytes)
	p.published()
}

// published raises the bounds after a write and completes what waited for it.
func (p *Partition) published() {
	end := p.log.WrittenEnd()
	p.pub.written.Store(end)
	p.asOpened = false
	p.noteUnsynced()
	var done appendList
	for a := p.unwritten.head; a != nil && a.end <= end; a = p.unwritten.head {
		p.unwritten.pop()
		if !a.Duplicate {
			p.cumWritten = a.cum
			if a.seq != nil {
				p.producers.commit(a.seq, a.Batch)
				a.seq = nil
			}
			p.release(a)
		}
		if a.Need == NeedCommitted || a.strict {
			p.waiting.push(a)
		} else {
			done.push(a)
		}
	}
	p.marks[ReadWritten].add(end, p.cumWritten)
	p.wakeData(ReadWritten, p.cumWritten)
	p.advance()
	for a := done.pop(); a != nil; a = done.pop() {
		p.complete(a, nil)
	}
}

// advance moves the committed end as far as the rule of decisions 2 allows and completes whom that satisfies.
func (p *Partition) advance() {
	synced := p.log.SyncedEnd()
	if synced > p.pub.synced.Load() {
		p.pub.synced.Store(synced)
	}
	p.findStrict(synced)
	if p.eng.opts.Commit != CommitLocal {
		return
	}
	end, cum := p.pub.written.Load(), p.cumWritten
	if p.strictFrom < end {
		end, cum = p.strictFrom, p.strictCum
	}
	p.commitTo(end, cum)
}

// findStrict keeps strictFrom at the first strict batch at or above the synced end.
func (p *Partition) findStrict(synced int64) {
	if p.strictFrom >= synced {
		return
	}
	p.strictFrom, p.strictCum = noOffset, 0
	for _, l := range [2]*appendList{&p.waiting, &p.unwritten} {
		for a := l.head; a != nil; a = a.next {
			if a.strict && a.BaseOffset >= synced {
				p.strictFrom, p.strictCum = a.BaseOffset, a.cum-int64(len(a.Batch))
				return
			}
		}
	}
}

// commitTo publishes a higher committed end.
func (p *Partition) commitTo(end, cum int64) {
	if end > p.pub.committed.Load() {
		p.cumCommitted = cum
		p.pub.committed.Store(end)
		p.marks[ReadUncommitted].add(end, cum)
		p.publishStable()
		p.wakeData(ReadUncommitted, cum)
		p.wakeData(ReadCommitted, p.cumStable)
	}
	committed := p.pub.committed.Load()
	for a := p.waiting.head; a != nil && a.end <= committed; a = p.waiting.head {
		p.waiting.pop()
		p.complete(a, nil)
	}
}

// publishStable raises the last stable offset behind the committed end.
func (p *Partition) publishStable() {
	end, cum := p.pub.committed.Load(), p.cumCommitted
	if open := p.producers.firstOpen; open < end {
		end, cum = max(open, p.pub.stable.Load()), p.cumStable
	}
	if end > p.pub.stable.Load() {
		p.cumStable = cum
		p.pub.stable.Store(end)
		p.marks[ReadCommitted].add(end, cum)
	}
}

// setCommitted is SetCommitted.
func (p *Partition) setCommitted(offset int64) {
	if p.eng.opts.Commit != CommitExternal || p.Err() != nil {
		return
	}
	offset = min(offset, p.pub.written.Load())
	cum, ok := p.marks[ReadWritten].cumAt(offset)
	for a := p.waiting.head; !ok && a != nil; a = a.next {
		if a.end == offset && !a.Duplicate {
			cum, ok = a.cum, true
		}
	}
	if !ok {
		cum = p.cumWritten // not known exactly: wake early rather than late
	}
	p.commitTo(offset, cum)
}

// cumOf is how many bytes lie below a bound, counted from when the partition was opened.
func (p *Partition) cumOf(i Isolation) int64 {
	switch i {
	case ReadCommitted:
		return p.cumStable
	case ReadWritten:
		return p.cumWritten
	}
	return p.cumCommitted
}
