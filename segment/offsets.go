package segment

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"millrace/vfs"
)

// Kafka's checkpoint files are text: a version line "0", a line with the number of entries, one line per entry with
// fields separated by blanks.

// checkpointLines checks version and count. lines are the entries that are there; err says what is wrong with the rest.
func checkpointLines(data []byte) (lines []string, err error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: empty checkpoint", ErrFormat)
	}
	all := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if strings.TrimSpace(all[0]) != "0" {
		return nil, fmt.Errorf("%w: checkpoint version %q", ErrFormat, clip(all[0]))
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("%w: checkpoint without a count", ErrFormat)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(all[1]), 10, 32)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%w: checkpoint count %q", ErrFormat, clip(all[1]))
	}
	lines = all[2:]
	if int64(len(lines)) != n {
		return lines, fmt.Errorf("%w: checkpoint has %d entries, not %d", ErrFormat, len(lines), n)
	}
	return lines, nil
}

func parseOffsets(data []byte) ([]OffsetEntry, error) {
	lines, err := checkpointLines(data)
	out := make([]OffsetEntry, 0, len(lines))
	for _, line := range lines {
		e, ok := parseOffsetLine(line)
		if !ok {
			return out, fmt.Errorf("%w: checkpoint line %q", ErrFormat, clip(line))
		}
		out = append(out, e)
	}
	return out, err
}

func parseOffsetLine(line string) (e OffsetEntry, ok bool) {
	f := strings.Fields(line)
	if len(f) != 3 {
		return e, false
	}
	p, err := strconv.ParseInt(f[1], 10, 32)
	off, err2 := strconv.ParseInt(f[2], 10, 64)
	if err != nil || err2 != nil || p < 0 || off < 0 {
		return e, false
	}
	return OffsetEntry{f[0], int32(p), off}, true
}

// ReadOffsets reads an offset checkpoint. A missing file gives fs.ErrNotExist; a damaged one ErrFormat together with the
// entries that could be read (none of them to be trusted more than "unknown").
func ReadOffsets(fsys vfs.FS, path string) ([]OffsetEntry, error) {
	data, err := fsys.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out, err := parseOffsets(data)
	if err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

func formatOffsets(entries []OffsetEntry) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n%d\n", checkpointVersion, len(entries))
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %d %d\n", e.Topic, e.Partition, e.Offset)
	}
	return b.Bytes()
}

// WriteOffsets replaces an offset checkpoint durably.
func WriteOffsets(fsys vfs.FS, path string, entries []OffsetEntry) error {
	return fsys.WriteFileAtomic(path, formatOffsets(entries))
}

// parseEpochs reads a leader-epoch-checkpoint. What comes before the first bad line is returned with the error.
func parseEpochs(data []byte) ([]EpochEntry, error) {
	lines, err := checkpointLines(data)
	out := make([]EpochEntry, 0, len(lines))
	last := EpochEntry{-1, -1}
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) != 2 {
			return out, fmt.Errorf("%w: epoch line %q", ErrFormat, clip(line))
		}
		epoch, err1 := strconv.ParseInt(f[0], 10, 32)
		start, err2 := strconv.ParseInt(f[1], 10, 64)
		if err1 != nil || err2 != nil || epoch <= int64(last.Epoch) || start < max(last.Start, 0) {
			return out, fmt.Errorf("%w: epoch line %q", ErrFormat, clip(line))
		}
		last = EpochEntry{int32(epoch), start}
		out = append(out, last)
	}
	return out, err
}

func formatEpochs(entries []EpochEntry) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n%d\n", checkpointVersion, len(entries))
	for _, e := range entries {
		fmt.Fprintf(&b, "%d %d\n", e.Epoch, e.Start)
	}
	return b.Bytes()
}

// offsetsFit says whether all offsets of [first, last] can be stored relative to base.
func offsetsFit(base, first, last int64) bool {
	return first >= base && last >= first && last-base <= math.MaxInt32
}
