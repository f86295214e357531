package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"millrace/segment/batch"
	"millrace/vfs"
)

// dirFiles is what lies in a partition directory when it is opened. Owned by Open.
type dirFiles struct {
	names map[string]bool
	bases []int64 // of .log files, growing
	snaps []int64 // of .snapshot files, growing
	nexts []string
	// deleted are files that retention had given up: removed once the log is open, for a large one takes long.
	deleted []string
	empty   bool // no file but partition.metadata
}

// listDir reads the directory, removes left-overs and finishes an interrupted cleaning.
func (r *recovery) listDir() error {
	list, err := r.fs.List(r.dir)
	if err != nil {
		return err
	}
	d := &r.files
	d.names, d.empty = map[string]bool{}, true
	var cleaned, swaps []int64
	for _, e := range list {
		name := e.Name()
		if e.IsDir() {
			continue
		}
		switch {
		case strings.HasSuffix(name, suffixDeleted):
			d.deleted = append(d.deleted, name)
			continue
		case strings.HasSuffix(name, suffixTmp):
			if err := r.remove(name); err != nil {
				return err
			}
			continue
		case strings.HasSuffix(name, suffixCleaned):
			if o, _, ok := parseFileName(name); ok {
				cleaned = append(cleaned, o)
			}
			if err := r.remove(name); err != nil {
				return err
			}
			continue
		case strings.HasSuffix(name, suffixLog+suffixSwap):
			if o, _, ok := parseFileName(name); ok {
				swaps = append(swaps, o)
			}
		}
		d.names[name] = true
		d.empty = d.empty && name == PartitionMetaFile
	}
	if err := r.finishSwaps(cleaned, swaps); err != nil {
		return err
	}
	for name := range d.names {
		o, suffix, ok := parseFileName(name)
		switch {
		case ok && suffix == suffixLog:
			d.bases = append(d.bases, o)
		case ok && suffix == suffixSnapshot:
			d.snaps = append(d.snaps, o)
		case ok && strings.HasSuffix(suffix, suffixNext):
			d.nexts = append(d.nexts, name)
		}
	}
	slices.Sort(d.bases)
	slices.Sort(d.snaps)
	slices.Sort(d.nexts)
	return nil
}

func (r *recovery) path(name string) string { return filepath.Join(r.dir, name) }

func (r *recovery) remove(name string) error {
	r.rep.Removed = append(r.rep.Removed, name)
	delete(r.files.names, name)
	return removeIfThere(r.fs, r.path(name))
}

func (r *recovery) note(format string, args ...any) {
	r.rep.Notes = append(r.rep.Notes, fmt.Sprintf(format, args...))
}

// finishSwaps completes what a cleaner, ours or Kafka's, left half done: a .cleaned file was not ready, and .swap files at
// or above one may be incomplete as a set; other .swap files replace the segments that they cover. Files that belong to no
// .log.swap are caches of nothing.
func (r *recovery) finishSwaps(cleaned, swaps []int64) error {
	limit := int64(maxMs)
	if len(cleaned) > 0 {
		limit = slices.Min(cleaned)
	}
	var good []int64
	for _, base := range swaps {
		if base < limit {
			good = append(good, base)
		}
	}
	for name := range r.files.names {
		if o, _, ok := parseFileName(name); ok && strings.HasSuffix(name, suffixSwap) && !slices.Contains(good, o) {
			if err := r.remove(name); err != nil {
				return err
			}
		}
	}
	if len(good) == 0 {
		return nil
	}
	for _, base := range good {
		end, err := r.swapEnd(filepath.Base(fileName(r.dir, base, suffixLog))+suffixSwap, base)
		if err != nil {
			return err
		}
		if err := r.coverBySwap(base, end); err != nil {
			return err
		}
	}
	// The old segments are gone for good before the new ones lose the names that say so.
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	for _, base := range good {
		for _, suffix := range segmentSuffixes {
			n := filepath.Base(fileName(r.dir, base, suffix))
			if !r.files.names[n+suffixSwap] {
				continue
			}
			if err := r.fs.Rename(r.path(n+suffixSwap), r.path(n)); err != nil {
				return err
			}
			delete(r.files.names, n+suffixSwap)
			r.files.names[n] = true
		}
		r.note("finished the swap of segment %d", base)
	}
	return r.fs.SyncDir(r.dir)
}

// swapEnd is the offset up to which a .swap file replaces others: behind its batches, or further up if its side file says
// that the last ones of what it was made from are gone.
func (r *recovery) swapEnd(name string, base int64) (int64, error) {
	f, err := r.fs.OpenRead(r.path(name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	sc := logScan{r: f, size: size}
	end := base
	for pos := int64(0); pos < size; {
		h, err := sc.head(pos)
		if err != nil {
			if errors.Is(err, errBatch) {
				break
			}
			return 0, err
		}
		end = h.LastOffset() + 1
		pos += int64(h.Size())
	}
	data, err := r.fs.ReadFile(fileName(r.dir, base, suffixSum) + suffixSwap)
	if isNotExist(err) {
		return end, nil
	}
	if err != nil {
		return 0, err
	}
	if sm, err := decodeSum(data); err == nil && sm.Base == base && sm.Partition == r.p.Partition && sm.Pos == size {
		end = max(end, sm.End)
	}
	return end, nil
}

// coverBySwap removes the segments whose batches all lie in [base, end).
func (r *recovery) coverBySwap(base, end int64) error {
	for n := range r.files.names {
		o, suffix, ok := parseFileName(n)
		if !ok || suffix != suffixLog || o < base || o >= end || o == base {
			continue
		}
		for _, sfx := range segmentSuffixes {
			if m := filepath.Base(fileName(r.dir, o, sfx)); r.files.names[m] {
				if err := r.remove(m); err != nil {
					return err
				}
			}
		}
	}
	// Of the one that is replaced in place, what belongs to the old bytes goes too.
	for _, sfx := range []string{suffixIndex, suffixTimeIndex, suffixTxnIndex, suffixSum, suffixDamage} {
		if m := filepath.Base(fileName(r.dir, base, sfx)); r.files.names[m] {
			if err := r.remove(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTopicID compares partition.metadata with what the caller expects, and writes it if it is missing.
func (r *recovery) checkTopicID() error {
	id, err := ReadTopicID(r.fs, r.dir)
	zero := [16]byte{}
	switch {
	case err == nil && (r.p.TopicID == zero || r.p.TopicID == id):
		r.sh.topicID = id
		return nil
	case err == nil:
		return fmt.Errorf("%w: %s has %s, not %s", ErrTopicID, r.dir, FormatID(id), FormatID(r.p.TopicID))
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrFormat):
		return err
	}
	r.sh.topicID = r.p.TopicID
	if r.p.TopicID == zero {
		return nil
	}
	r.note("%s rewritten: %v", PartitionMetaFile, err)
	return WriteTopicID(r.fs, r.dir, r.p.TopicID)
}

// firstHead is the header of a file's first batch; ok is false if there is none.
func firstHead(f io.ReaderAt, size int64) (batch.View, bool, error) {
	sc := logScan{r: f, size: size, buf: make([]byte, batch.HeaderSize)}
	b := make([]byte, batch.HeaderSize)
	if n, err := f.ReadAt(b, 0); n < len(b) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		return nil, false, nil
	}
	sc.buf, sc.n = b, len(b)
	v, err := sc.head(0)
	if err != nil {
		return nil, false, nil
	}
	return v, true, nil
}

// openFile opens a segment's log, whatever the mode.
func openFile(fsys vfs.FS, name string) (*sharedFile, int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	size, err := f.Size()
	if err == nil && size > 1<<31-1 {
		err = fmt.Errorf("%w: %s has %d bytes", ErrFormat, name, size)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return newSharedFile(f), size, nil
}
