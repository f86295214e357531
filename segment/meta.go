package segment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"millrace/vfs"
)

// ReadMeta reads meta.properties in dir; fs.ErrNotExist or ErrFormat.
func ReadMeta(fsys vfs.FS, dir string) (Meta, error) {
	data, err := fsys.ReadFile(filepath.Join(dir, MetaFile))
	if err != nil {
		return Meta{}, err
	}
	return parseMeta(data)
}

// parseMeta reads the few keys that Kafka writes, which need no escapes; others are kept as they are.
func parseMeta(data []byte) (m Meta, err error) {
	m.NodeID = -1
	version := ""
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			return m, fmt.Errorf("%w: %s line %q", ErrFormat, MetaFile, clip(line))
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch key {
		case "version":
			version = value
		case "cluster.id":
			m.ClusterID = value
		case "node.id":
			id, err := strconv.ParseInt(value, 10, 32)
			if err != nil || id < 0 {
				return m, fmt.Errorf("%w: %s node.id %q", ErrFormat, MetaFile, clip(value))
			}
			m.NodeID = int32(id)
		case "directory.id":
			m.DirectoryID = value
		default:
			m.Other = append(m.Other, key+"="+value)
		}
	}
	if version != "1" {
		return m, fmt.Errorf("%w: %s version %q, not 1", ErrFormat, MetaFile, clip(version))
	}
	if m.ClusterID == "" || m.NodeID < 0 {
		return m, fmt.Errorf("%w: %s lacks cluster.id or node.id", ErrFormat, MetaFile)
	}
	return m, nil
}

func formatMeta(m Meta) []byte {
	var b strings.Builder
	b.WriteString("#\n") // Kafka puts an empty comment and the date here
	fmt.Fprintf(&b, "cluster.id=%s\n", m.ClusterID)
	if m.DirectoryID != "" {
		fmt.Fprintf(&b, "directory.id=%s\n", m.DirectoryID)
	}
	fmt.Fprintf(&b, "node.id=%d\nversion=1\n", m.NodeID)
	for _, o := range m.Other {
		b.WriteString(o + "\n")
	}
	return []byte(b.String())
}

// WriteMeta replaces meta.properties durably.
func WriteMeta(fsys vfs.FS, dir string, m Meta) error {
	return fsys.WriteFileAtomic(filepath.Join(dir, MetaFile), formatMeta(m))
}

// cleanFile is Kafka's .kafka_cleanshutdown.
type cleanFile struct {
	Version     int   `json:"version"`
	BrokerEpoch int64 `json:"brokerEpoch"`
}

// Our mark is text: "millrace-clean 1", the boot id, then the lines of an offset checkpoint, then the digest of all that.
const cleanMagic = "millrace-clean 1"

// ReadCleanMark reads the mark in dir; ok is false when there is none (unclean stop) or it cannot be trusted, err then
// says why. A mark of ours counts only together with Kafka's.
func ReadCleanMark(fsys vfs.FS, dir string) (m CleanMark, ok bool, err error) {
	data, err := fsys.ReadFile(filepath.Join(dir, CleanShutdownFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	m.BrokerEpoch = -1
	var k cleanFile
	if json.Unmarshal(data, &k) == nil && k.Version == cleanShutdownVersion {
		m.BrokerEpoch = k.BrokerEpoch
	}
	data, err = fsys.ReadFile(filepath.Join(dir, CleanMarkFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, true, nil // left by a Kafka broker
	}
	if err != nil {
		return m, false, err
	}
	boot, ends, err := parseCleanMark(data)
	if err != nil {
		return m, false, fmt.Errorf("%s: %w", CleanMarkFile, err)
	}
	m.BootID, m.Ends = boot, ends
	return m, true, nil
}

func parseCleanMark(data []byte) (boot string, ends []OffsetEntry, err error) {
	body, ok := cutDigestLine(data)
	if !ok {
		return "", nil, fmt.Errorf("%w: digest of the clean mark", ErrFormat)
	}
	magic, rest, _ := strings.Cut(string(body), "\n")
	if magic != cleanMagic {
		return "", nil, fmt.Errorf("%w: clean mark %q", ErrFormat, clip(magic))
	}
	boot, rest, _ = strings.Cut(rest, "\n")
	ends, err = parseOffsets([]byte(rest))
	return strings.TrimPrefix(boot, "boot "), ends, err
}

// WriteCleanMark writes the mark durably, as the last act of a clean stop: ours first, for Kafka's makes it count.
func WriteCleanMark(fsys vfs.FS, dir string, m CleanMark) error {
	body := []byte(cleanMagic + "\nboot " + m.BootID + "\n")
	body = append(body, formatOffsets(m.Ends)...)
	if err := fsys.WriteFileAtomic(filepath.Join(dir, CleanMarkFile), appendDigestLine(body)); err != nil {
		return err
	}
	data, err := json.Marshal(cleanFile{cleanShutdownVersion, m.BrokerEpoch})
	if err != nil {
		return err
	}
	return fsys.WriteFileAtomic(filepath.Join(dir, CleanShutdownFile), data)
}

// RemoveCleanMark removes the mark durably, before the first write after a start: Kafka's first.
func RemoveCleanMark(fsys vfs.FS, dir string) error {
	removed := false
	for _, name := range []string{CleanShutdownFile, CleanMarkFile} {
		err := fsys.Remove(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		removed = true
		if name == CleanShutdownFile {
			if err := fsys.SyncDir(dir); err != nil {
				return err
			}
		}
	}
	if !removed {
		return nil
	}
	return fsys.SyncDir(dir)
}

// BootID is the kernel's boot id, "" if it cannot be read.
func BootID() string {
	data, err := vfs.OS{}.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
