package clients

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// header is one record header. record is one line of real text; its key ends in its number, so that a client's partitioner can find the
// partition from the key alone.
type header struct {
	key   string
	value []byte
}

type record struct {
	key, value []byte
	headers    []header
}

const partitions = 3

// partitionOf returns the partition that the record with this key belongs to.
func partitionOf(key []byte, n int) int {
	i, err := strconv.Atoi(string(key[bytes.LastIndexByte(key, ':')+1:]))
	if err != nil {
		panic(fmt.Sprintf("key %q does not end in a number", key))
	}
	return i % n
}

// lineCount is how many lines the matrix sends per client and codec.
func lineCount(t testing.TB) int {
	s := os.Getenv("MILLRACE_LINES")
	if s == "" {
		return 20000
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 100 {
		t.Fatalf("MILLRACE_LINES=%q: want a number of at least 100", s)
	}
	return n
}

// corpus collects n lines, in turn from Go's sources and from the changelogs, blank lines included. Lines that some text tool would change
// (bad UTF-8, carriage returns) or refuse (above 100 KiB) are left out.
func corpus(t testing.TB, n int) []record {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	half := make([][]record, 2)
	roots := []string{filepath.Join(strings.TrimSpace(string(goroot)), "src"), "/usr/share/doc"}
	for i, root := range roots {
		half[i] = linesUnder(t, root, n)
	}
	if len(half[0])+len(half[1]) < n {
		t.Fatalf("only %d lines of text under %v, want %d", len(half[0])+len(half[1]), roots, n)
	}
	records := make([]record, 0, n)
	for i := 0; len(records) < n; i++ {
		for _, h := range half {
			if i < len(h) && len(records) < n {
				records = append(records, h[i])
			}
		}
	}
	for i := range records {
		r := &records[i]
		r.key = strconv.AppendInt(append(r.key, ':'), int64(i), 10)
		r.headers = append(r.headers, header{"line", strconv.AppendInt(nil, int64(i), 10)})
		if i%10 == 0 {
			r.headers = append(r.headers, header{"empty", []byte{}})
		}
	}
	return records
}

func linesUnder(t testing.TB, root string, n int) []record {
	var records []record
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(records) >= n || !d.Type().IsRegular() {
			if len(records) >= n {
				return filepath.SkipAll
			}
			return nil // an unreadable folder is no reason to have no text
		}
		name := strings.TrimPrefix(path, root+"/")
		if !(strings.HasSuffix(name, ".go") || strings.Contains(strings.ToLower(name), "changelog")) || strings.ContainsAny(name, ",:=|\t ") {
			return nil
		}
		records = appendLines(records, path, name, n)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func appendLines(records []record, path, name string, n int) []record {
	f, err := os.Open(path)
	if err != nil {
		return records
	}
	defer f.Close()
	var text io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			return records
		}
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 100<<10)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) { // like ScanLines, but keeps carriage returns to be seen
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	for len(records) < n && lines.Scan() {
		line := lines.Bytes()
		if !utf8.Valid(line) || bytes.ContainsAny(line, "\r\x00") {
			continue
		}
		records = append(records, record{key: []byte(name), value: append([]byte{}, line...), headers: []header{{"file", []byte(name)}}})
	}
	return records
}
