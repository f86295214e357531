package segment

import (
	"errors"

	"millrace/segment/batch"
)

// cleanTxns tells a cleaning which transactional batches were aborted, so that their records neither supersede others
// nor stay, and which markers have outlived their transaction. Owned by one cleaning.
//
// Everything that is cleaned lies below the last stable offset, so the outcome of every transaction in it is in the log.
// Aborted batches below the first dirty offset were taken out by earlier cleanings.
type cleanTxns struct {
	// read finds the aborted transactions; called once, when the first transactional batch is met.
	read    func(*cleanTxns) error
	loaded  bool
	aborted map[int64][]offsetRange // by producer
	// seen are the producers of whose last transaction a batch was met since its last marker.
	seen map[int64]bool
}

// offsetRange is from the first to the last offset, both included.
type offsetRange struct{ first, last int64 }

// isAborted says whether a data batch belongs to an aborted transaction.
func (t *cleanTxns) isAborted(v batch.View) (bool, error) {
	if !v.Attributes().Transactional() {
		return false, nil
	}
	if !t.loaded {
		t.loaded, t.aborted = true, map[int64][]offsetRange{}
		if err := t.read(t); err != nil {
			return false, err
		}
	}
	for _, r := range t.aborted[v.ProducerID()] {
		if v.BaseOffset() >= r.first && v.BaseOffset() <= r.last {
			return true, nil
		}
	}
	return false, nil
}

// data notes a batch that a cleaning writes or drops.
func (t *cleanTxns) data(v batch.View) (aborted bool, err error) {
	if !v.Attributes().Transactional() {
		return false, nil
	}
	t.seen[v.ProducerID()] = true
	return t.isAborted(v)
}

// marker says whether nothing of the transaction is left that a marker ends. Control batches of other kinds stay.
func (t *cleanTxns) marker(v batch.View) (alone bool) {
	if _, ok := batch.ParseMarker(v); !ok {
		return false
	}
	alone = !t.seen[v.ProducerID()]
	delete(t.seen, v.ProducerID())
	return alone
}

// readAborted walks the batch headers between the first dirty and the stable offset.
func (c *Cleaning) readAborted(t *cleanTxns) error {
	open := map[int64]int64{} // first offset of the open transaction of a producer
	for _, s := range c.view.segs {
		limit, end := s.bounds()
		if end <= c.from {
			continue
		}
		sc := logScan{r: s.file, size: limit, chunk: c.o.ChunkBytes}
		for pos := int64(0); pos < limit; {
			h, err := sc.head(pos)
			if err != nil {
				return c.failed(s, &sc, pos, err)
			}
			if h.BaseOffset() >= c.o.Stable {
				return nil
			}
			if err := c.pace(h.Size()); err != nil {
				return err
			}
			size := int64(h.Size())
			switch a := h.Attributes(); {
			case !a.Transactional():
			case !a.Control():
				if _, ok := open[h.ProducerID()]; !ok {
					open[h.ProducerID()] = h.BaseOffset()
				}
			default:
				v, err := sc.batch(pos)
				if err != nil {
					return c.failed(s, &sc, pos, err)
				}
				m, ok := batch.ParseMarker(v)
				if !ok {
					break
				}
				first, some := open[m.ProducerID]
				delete(open, m.ProducerID)
				if some && !m.Commit {
					t.aborted[m.ProducerID] = append(t.aborted[m.ProducerID], offsetRange{first, v.LastOffset()})
				}
			}
			pos += size
		}
	}
	return nil
}

// failed turns what a scan met into the cleaning's error, and remembers where bytes are that form no batch.
func (c *Cleaning) failed(s *Segment, sc *logScan, pos int64, err error) error {
	if !errors.Is(err, errBatch) {
		return err
	}
	return c.damaged(s, sc, pos, err)
}
