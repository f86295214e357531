package segment

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"millrace/vfs"
)

// Suffixes of the files of a segment. A file's name is its base offset in 20 digits and the suffix; a snapshot's is the
// offset that it is valid up to.
const (
	suffixLog       = ".log"
	suffixIndex     = ".index"
	suffixTimeIndex = ".timeindex"
	suffixTxnIndex  = ".txnindex"
	suffixSnapshot  = ".snapshot"
	// Ours.
	suffixWindow = ".window" // the duplicate windows that belong to the snapshot of the same offset
	suffixSum    = ".sum"    // what is known of the segment: extent, digest, state of its indexes
	suffixNext   = ".next"   // the successor of the segment of that base offset, made ahead of need
	suffixCut    = ".cut"    // bytes that recovery cut off although valid batches follow
	// Kafka's marks on files that are on their way in or out.
	suffixDeleted = ".deleted"
	suffixCleaned = ".cleaned"
	suffixSwap    = ".swap"
	suffixTmp     = ".tmp"
)

// segmentSuffixes are those of the files that come and go with a segment.
var segmentSuffixes = [...]string{suffixLog, suffixIndex, suffixTimeIndex, suffixTxnIndex, suffixSnapshot, suffixWindow, suffixSum, suffixDamage}

// fileName is the path of a file in a partition directory.
func fileName(dir string, offset int64, suffix string) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", offset, suffix))
}

// parseFileName splits a name into offset and suffix; ok is false if it does not start with 20 digits.
func parseFileName(name string) (offset int64, suffix string, ok bool) {
	if len(name) <= 20 || name[20] != '.' {
		return 0, "", false
	}
	for _, c := range []byte(name[:20]) {
		if c < '0' || c > '9' {
			return 0, "", false
		}
	}
	offset, err := strconv.ParseInt(name[:20], 10, 64)
	return offset, name[20:], err == nil
}

// DirName is the directory name of a partition.
func DirName(topic string, partition int32) string {
	return topic + "-" + strconv.Itoa(int(partition))
}

// ParseDirName splits a directory name; ok is false if it is no live partition directory (also for -delete, -future
// and -stray ones).
func ParseDirName(name string) (topic string, partition int32, ok bool) {
	cut := strings.LastIndexByte(name, '-')
	if cut <= 0 || cut == len(name)-1 {
		return "", 0, false
	}
	digits := name[cut+1:]
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != digits {
		return "", 0, false
	}
	return name[:cut], int32(n), true
}

// NewUnique is a random hex string as Kafka puts into the names of deleted directories.
func NewUnique() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// DeletedName is the name a partition directory gets when it is deleted; unique is a random hex string. A long topic
// name is cut so that the whole has at most 255 bytes, as in Kafka.
func DeletedName(topic string, partition int32, unique string) string {
	tail := "-" + strconv.Itoa(int(partition)) + "." + unique + DeletedDirSuffix
	return topic[:min(len(topic), 255-len(tail))] + tail
}

// IsDeletedName says whether name is that of a deleted partition's directory.
func IsDeletedName(name string) bool {
	return strings.HasSuffix(name, DeletedDirSuffix) && strings.IndexByte(name, '.') > 0
}

// FormatID writes an id as Kafka does: base64url, 22 characters.
func FormatID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseID reads what FormatID writes.
func ParseID(s string) (id [16]byte, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%w: id %q", ErrFormat, s)
	}
	copy(id[:], b)
	return id, nil
}

// ReadTopicID reads partition.metadata in dir: fs.ErrNotExist or ErrFormat.
func ReadTopicID(fsys vfs.FS, dir string) (id [16]byte, err error) {
	data, err := fsys.ReadFile(filepath.Join(dir, PartitionMetaFile))
	if err != nil {
		return id, err
	}
	return parsePartitionMeta(data)
}

func parsePartitionMeta(data []byte) (id [16]byte, err error) {
	version, rest, _ := strings.Cut(string(data), "\n")
	if strings.TrimSpace(version) != "version: 0" {
		return id, fmt.Errorf("%w: %s starts with %q", ErrFormat, PartitionMetaFile, clip(version))
	}
	s, ok := strings.CutPrefix(strings.TrimSpace(rest), "topic_id:")
	if !ok {
		return id, fmt.Errorf("%w: %s has no topic id", ErrFormat, PartitionMetaFile)
	}
	return ParseID(strings.TrimSpace(s))
}

// WriteTopicID replaces partition.metadata durably.
func WriteTopicID(fsys vfs.FS, dir string, id [16]byte) error {
	return fsys.WriteFileAtomic(filepath.Join(dir, PartitionMetaFile), []byte("version: 0\ntopic_id: "+FormatID(id)))
}

// clip shortens foreign bytes for a message.
func clip(s string) string { return s[:min(len(s), 40)] }

// writeDurable replaces a file whose directory the caller syncs afterwards.
func writeDurable(fsys vfs.FS, name string, data []byte) error {
	tmp := name + suffixTmp
	f, err := fsys.CreateTrunc(tmp)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(data, 0); err == nil {
		err = f.Datasync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		_ = fsys.Remove(tmp)
	}
	return err
}
