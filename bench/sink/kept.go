package sink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"millrace/internal/crc32c"
)

// takeStock does what no broker can leave out at a start on kept data: it finds the partitions of a log directory in Kafka's
// format and the ends of their logs, and unless the last stop was clean reads what lies above the recovery points, with its
// checksum. Internal topics are left out. It returns how many bytes it read.
func takeStock(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	points, err := recoveryPoints(filepath.Join(dir, "recovery-point-offset-checkpoint"))
	if err != nil {
		return 0, err
	}
	_, err = os.Stat(filepath.Join(dir, ".kafka_cleanshutdown"))
	clean := err == nil
	read, buf := int64(0), make([]byte, 1<<20)
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), "__") || strings.HasSuffix(e.Name(), "-delete") {
			continue
		}
		n, err := keptPartition(filepath.Join(dir, e.Name()), points[e.Name()], clean, buf)
		read += n
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

// recoveryPoints reads the offsets by partition, "topic-number"; without the file there are none.
func recoveryPoints(file string) (map[string]int64, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	points := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 {
			if points[f[0]+"-"+f[1]], err = strconv.ParseInt(f[2], 10, 64); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return points, err
}

// keptPartition looks at the newest segment, and reads from the recovery point on.
func keptPartition(dir string, point int64, clean bool, buf []byte) (int64, error) {
	entries, err := os.ReadDir(dir) // sorted, so oldest first
	if err != nil {
		return 0, err
	}
	var bases []int64
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".log"); ok {
			if base, err := strconv.ParseInt(name, 10, 64); err == nil {
				bases = append(bases, base)
			}
		}
	}
	if len(bases) == 0 {
		return 0, nil
	}
	if clean {
		_, err := os.Stat(filepath.Join(dir, fmt.Sprintf("%020d.log", bases[len(bases)-1])))
		return 0, err
	}
	at, here := slices.BinarySearch(bases, point)
	if !here {
		at = max(0, at-1)
	}
	read := int64(0)
	for _, base := range bases[at:] {
		from := int64(0)
		if base < point {
			if from, err = indexed(filepath.Join(dir, fmt.Sprintf("%020d.index", base)), point-base); err != nil {
				return read, err
			}
		}
		n, err := checksum(filepath.Join(dir, fmt.Sprintf("%020d.log", base)), from, buf)
		read += n
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

// indexed is the position of the last entry of an offset index that is not above a relative offset.
func indexed(file string, offset int64) (int64, error) {
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	pos := int64(0)
	for ; len(b) >= 8; b = b[8:] {
		rel, at := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
		if rel > offset || at < pos {
			break // the rest is above, or was made larger than it is filled
		}
		pos = at
	}
	return pos, nil
}

// checksum reads a file from a position to its end.
func checksum(file string, from int64, buf []byte) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var sum summer
	return io.CopyBuffer(&sum, struct{ io.Reader }{io.NewSectionReader(f, from, 1<<62)}, buf)
}

// summer is a writer that keeps nothing but a CRC-32C.
type summer struct{ crc uint32 }

func (s *summer) Write(b []byte) (int, error) {
	s.crc = crc32c.Update(s.crc, b)
	return len(b), nil
}
