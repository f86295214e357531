package engine

import (
	"errors"

	"millrace/segment"
)

// Plan fills in what a fetch from offset may send now: a file range below the isolation's end, at most maxBytes, or at
// least one whole batch if whole is set (the first one of a response, KIP-74). Any loop or goroutine; neither blocks nor
// allocates.
//
// ErrCold: the position is not in memory, ask PlanBlocking off the loop. ErrOutOfRange: below the log start or above the
// log's end. An offset between the isolation's end and the log's end, or at it, is an empty plan. ErrOffline, ErrDeleted.
func (p *Partition) Plan(plan *FetchPlan, offset int64, maxBytes int64, i Isolation, whole bool) error {
	return p.plan(plan, offset, maxBytes, i, whole, false)
}

// PlanBlocking is Plan, reading what it needs; for ordinary goroutines and Loop.Offload.
func (p *Partition) PlanBlocking(plan *FetchPlan, offset int64, maxBytes int64, i Isolation, whole bool) error {
	return p.plan(plan, offset, maxBytes, i, whole, true)
}

func (p *Partition) plan(plan *FetchPlan, offset, maxBytes int64, i Isolation, whole, block bool) error {
	*plan = FetchPlan{FirstOffset: -1}
	if err := p.Err(); err != nil {
		return err
	}
	b := p.pub.load()
	plan.Bounds = b
	if offset < b.LogStart || offset > b.Written {
		return ErrOutOfRange
	}
	end := b.bound(i)
	if offset >= end {
		return nil
	}
	v := p.log.View()
	pos, r, err := locate(v, offset, maxBytes, end, whole, block)
	if err != nil || r.Len == 0 {
		v.Release()
		if gone := p.Err(); gone != nil { // the view was emptied meanwhile
			return gone
		}
		return readError(err)
	}
	plan.Range = FileRange(r)
	plan.FirstOffset = pos.Offset
	plan.Ref = v
	return nil
}

func locate(v *segment.View, offset, maxBytes, end int64, whole, block bool) (pos segment.Position, r segment.Range, err error) {
	if block {
		if pos, err = v.FindBlocking(offset); err == nil {
			r, err = v.SliceBlocking(pos, maxBytes, end, whole)
		}
		return pos, r, err
	}
	if pos, err = v.Find(offset); err == nil {
		r, err = v.Slice(pos, maxBytes, end, whole)
	}
	return pos, r, err
}

// readError turns what segment says into this package's errors.
func readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, segment.ErrCold):
		return ErrCold
	case errors.Is(err, segment.ErrOutOfRange):
		return ErrOutOfRange
	case errors.Is(err, segment.ErrClosed):
		return ErrDeleted
	case errors.Is(err, segment.ErrDamaged), errors.Is(err, segment.ErrFormat):
		return errors.Join(ErrCorrupt, err)
	}
	return err
}
