package segment

import (
	"errors"
	"io/fs"
	"path/filepath"

	"millrace/segment/batch"
)

// producerPlan says how producer state is brought back: a snapshot, and replay of the batches from an offset on. Owned by
// Open.
type producerPlan struct {
	from   int64 // replay batches from here
	snapAt int64 // the snapshot that equals the state, as in Log.snapAt
}

// loadSnapshot reads the state of one snapshot: our window file if it is good, else Kafka's own.
func (r *recovery) loadSnapshot(offset int64) ([]ProducerEntry, error) {
	if entries, ok, err := r.loadWindow(offset); ok || err != nil {
		return entries, err
	}
	data, err := r.fs.ReadFile(fileName(r.dir, offset, suffixSnapshot))
	if err != nil {
		return nil, err
	}
	return decodeSnapshot(data)
}

// loadWindow reads the window file of a snapshot; ok is false if there is no good one.
func (r *recovery) loadWindow(offset int64) (entries []ProducerEntry, ok bool, err error) {
	data, err := r.fs.ReadFile(fileName(r.dir, offset, suffixWindow))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	entries, werr := decodeWindow(data, offset)
	if werr == nil && r.windowFits(offset, entries) {
		return entries, true, nil
	}
	r.note("producer window of %d is not used: %v", offset, werr)
	return nil, false, nil
}

// latestWindow is the newest snapshot at or below limit with a good window file, among the latest few: an older one and
// some replay give the windows exactly, where a newer snapshot alone has one batch per producer. -1 if there is none.
func (r *recovery) latestWindow(limit int64) (int64, error) {
	for i, tries := len(r.files.snaps)-1, 4; i >= 0 && tries > 0; i-- {
		o := r.files.snaps[i]
		if o > limit || !r.files.names[filepath.Base(fileName(r.dir, o, suffixWindow))] {
			continue
		}
		tries--
		if _, ok, err := r.loadWindow(o); ok || err != nil {
			return o, err
		}
	}
	return -1, nil
}

// windowFits says whether the window file is the twin of the snapshot: a Kafka broker that ran here in between would
// have written a snapshot of its own. A snapshot that is damaged or gone does not speak against it.
func (r *recovery) windowFits(offset int64, entries []ProducerEntry) bool {
	data, err := r.fs.ReadFile(fileName(r.dir, offset, suffixSnapshot))
	if err != nil {
		return true
	}
	if _, err := decodeSnapshot(data); err != nil {
		return true
	}
	return string(encodeSnapshot(entries)) == string(data)
}

// latestSnapshot loads the newest good snapshot at or below limit; bad ones are dropped. ok is false if there is none.
func (r *recovery) latestSnapshot(limit int64) (entries []ProducerEntry, offset int64, ok bool, err error) {
	for i := len(r.files.snaps) - 1; i >= 0; i-- {
		o := r.files.snaps[i]
		if o > limit {
			continue
		}
		entries, err := r.loadSnapshot(o)
		if err == nil {
			return entries, o, true, nil
		}
		if !errors.Is(err, ErrFormat) && !errors.Is(err, fs.ErrNotExist) {
			return nil, 0, false, err
		}
		r.note("producer snapshot of %d: %v", o, err)
		r.files.snaps = append(r.files.snaps[:i:i], r.files.snaps[i+1:]...)
		for _, suffix := range []string{suffixSnapshot, suffixWindow} {
			if n := filepath.Base(fileName(r.dir, o, suffix)); r.files.names[n] {
				if err := r.remove(n); err != nil {
					return nil, 0, false, err
				}
			}
		}
	}
	return nil, 0, false, nil
}

func (r *recovery) load(entries []ProducerEntry, offset int64) {
	if r.p.Producers != nil {
		r.p.Producers.Load(entries, offset)
	}
}

// replay tells of a batch at or above the offset that the loaded state covers.
func (r *recovery) replay(v batch.View) {
	if !v.HasProducerID() || v.BaseOffset() < r.prod.from {
		return
	}
	r.prod.snapAt = unknownSnapshot
	if r.p.Producers != nil {
		r.p.Producers.Replay(v)
	}
}

// bySum loads the state that a side file names for its end: that of a snapshot, or none at all. False if it names none
// or that is not usable.
func (r *recovery) bySum(sm *sum) (bool, error) {
	switch {
	case sm.Base < 0 || sm.Snapshot == unknownSnapshot:
		return false, nil
	case sm.Snapshot < 0:
		r.load(nil, sm.End)
		r.prod = producerPlan{from: sm.End, snapAt: -1}
		return true, nil
	}
	if o, err := r.latestWindow(sm.Snapshot); err != nil || o >= 0 && o != sm.Snapshot {
		return false, err
	}
	entries, err := r.loadSnapshot(sm.Snapshot)
	if errors.Is(err, ErrFormat) || errors.Is(err, fs.ErrNotExist) {
		r.note("producer snapshot of %d: %v", sm.Snapshot, err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.rep.SnapshotOffset = sm.Snapshot
	r.load(entries, sm.End)
	r.prod = producerPlan{from: sm.End, snapAt: sm.Snapshot}
	return true, nil
}

// bySnapshot loads the newest good snapshot at or below limit, or begins empty at the first segment.
func (r *recovery) bySnapshot(limit int64) error {
	if o, err := r.latestWindow(limit); err != nil {
		return err
	} else if o >= 0 {
		limit = o
	}
	entries, o, ok, err := r.latestSnapshot(limit)
	if err != nil {
		return err
	}
	if !ok {
		o = r.segs[0].base
		r.load(nil, o)
		r.prod = producerPlan{from: o, snapAt: unknownSnapshot}
		return nil
	}
	r.rep.SnapshotOffset = o
	r.load(entries, o)
	r.prod = producerPlan{from: o, snapAt: o}
	return nil
}

// planProducers chooses the producer state for a scan of segment k from st on.
func (r *recovery) planProducers(k int, st *appendState) error {
	if st.pos > 0 {
		if ok, err := r.bySum(&r.sums[k]); ok || err != nil {
			return err
		}
	}
	return r.bySnapshot(st.end)
}

// replayBelow replays what lies between the loaded state and byte pos (offset end) of segment k, where the scan starts.
func (r *recovery) replayBelow(k int, pos, end int64) error {
	if r.prod.from >= end {
		return nil
	}
	v := View{segs: r.segs}
	for i := max(v.segmentOf(r.prod.from), 0); i <= k; i++ {
		s, limit := r.segs[i], r.sizes[i]
		if i == k {
			limit = pos
		} else if n, _ := s.bounds(); n < limit {
			limit = n
		}
		if err := r.replayRange(s, limit); err != nil {
			return err
		}
	}
	return nil
}

// replayRange replays a segment's batches below byte limit. Bad ones are damage that is reported elsewhere; what they
// said of producers is lost.
func (r *recovery) replayRange(s *Segment, limit int64) error {
	sc := logScan{r: s.file, size: limit}
	pos := int64(0)
	for pos < limit {
		v, err := sc.batch(pos)
		if err == nil {
			r.replay(v)
			pos += int64(len(v))
			continue
		}
		if !errors.Is(err, errBatch) {
			return err
		}
		if pos, err = sc.findValid(pos+1, s.base); err != nil || pos < 0 {
			return err
		}
	}
	r.rep.ScannedBytes += sc.read
	return nil
}

// cleanProducers brings producer state back after a clean stop: by the side file, or by Kafka's snapshot of the end, or by
// replay.
func (r *recovery) cleanProducers(sm *sum) error {
	if ok, err := r.bySum(sm); ok || err != nil {
		return err
	}
	if err := r.bySnapshot(r.active.end); err != nil {
		return err
	}
	k := len(r.segs) - 1
	return r.replayBelow(k, r.active.pos, r.active.end)
}
