package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"millrace/vfs"
)

// suffixDamage marks the side file that remembers damaged ranges of a segment, so that they are not served after the
// next start, which trusts what lies below the recovery point.
const suffixDamage = ".damage"

const damageMagic = "millrace-damage 1"

func formatDamage(list []Damage) []byte {
	b := []byte(damageMagic + "\n")
	for _, d := range list {
		b = fmt.Appendf(b, "%d %d %d %d\n", d.Pos, d.Len, d.FromOffset, d.NextOffset)
	}
	return appendDigestLine(b)
}

func parseDamage(data []byte) ([]Damage, error) {
	body, ok := cutDigestLine(data)
	if !ok {
		return nil, fmt.Errorf("%w: digest of the damage list", ErrFormat)
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	if lines[0] != damageMagic {
		return nil, fmt.Errorf("%w: damage list %q", ErrFormat, clip(lines[0]))
	}
	var out []Damage
	for _, line := range lines[1:] {
		var d Damage
		n, err := fmt.Sscanf(line, "%d %d %d %d", &d.Pos, &d.Len, &d.FromOffset, &d.NextOffset)
		if n != 4 || err != nil || d.Pos < 0 || d.Len <= 0 || d.NextOffset < d.FromOffset {
			return nil, fmt.Errorf("%w: damage line %q", ErrFormat, clip(line))
		}
		if len(out) > 0 && d.Pos < out[len(out)-1].Pos+out[len(out)-1].Len {
			return nil, fmt.Errorf("%w: damage out of order %q", ErrFormat, clip(line))
		}
		d.Err = ErrDamaged
		out = append(out, d)
	}
	return out, nil
}

// readDamage reads the list of a segment; nil if there is none.
func readDamage(fsys vfs.FS, name string) ([]Damage, error) {
	data, err := fsys.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := parseDamage(data)
	for i := range list {
		list[i].File = name[:len(name)-len(suffixDamage)] + suffixLog
	}
	return list, err
}

// findDamage reads a segment whose bytes are trusted but do not form batches, and notes the bad ranges.
func (r *recovery) findDamage(s *Segment) error {
	limit, end := s.bounds()
	sc := logScan{r: s.file, size: limit, follower: end}
	s.damage = nil
	pos, next := int64(0), s.base
	for pos < limit {
		v, err := sc.next(pos, s.base, next, -1)
		if err == nil {
			pos += int64(v.Size())
			next = v.LastOffset() + 1
			continue
		}
		if !errors.Is(err, errBatch) {
			return err
		}
		d, _, err := r.damagedRange(s, &sc, pos, next, end, err)
		if err != nil {
			return err
		}
		pos, next = d.Pos+d.Len, d.NextOffset
	}
	r.rep.ScannedBytes += sc.read
	return r.saveDamage(s)
}

// damagedRange notes bad bytes at pos, up to the next good batch or the end of the file (found is false; the offsets
// missing then reach to end).
func (r *recovery) damagedRange(s *Segment, sc *logScan, pos, next, end int64, cause error) (d Damage, found bool, err error) {
	d = Damage{File: s.path(suffixLog), Pos: pos, Len: sc.size - pos, FromOffset: next, NextOffset: end, Err: fmt.Errorf("%w: %v", ErrDamaged, cause)}
	q, err := sc.findValid(pos+1, next)
	if err != nil {
		return d, false, err
	}
	if q >= 0 {
		h, err := sc.head(q)
		if err != nil {
			return d, false, err
		}
		d.Len, d.NextOffset = q-pos, h.BaseOffset()
	}
	s.damage = append(s.damage, d)
	r.rep.Damage = append(r.rep.Damage, d)
	return d, q >= 0, nil
}

func (r *recovery) saveDamage(s *Segment) error {
	if len(s.damage) == 0 {
		return nil
	}
	err := writeDurable(r.fs, s.path(suffixDamage), formatDamage(s.damage))
	if IsNoSpace(err) {
		r.note("no space to remember the damage of segment %d", s.base)
		return nil
	}
	return err
}
