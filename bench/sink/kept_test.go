package sink

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// TestTakeStockReadsWhatLiesAboveTheRecoveryPoints: whole segments behind it, its own from the index entry below it, nothing after
// a clean stop.
func TestTakeStockReadsWhatLiesAboveTheRecoveryPoints(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, size int) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, size := range map[string]int{
		"a-0/00000000000000000000.log": 1000, "a-0/00000000000000000010.log": 2000, "a-0/00000000000000000020.log": 3000, // 1,500 + 3,000
		"a-1/00000000000000000000.log":          1 << 21, // no recovery point: all of it
		"a-2/00000000000000000007.log":          50,      // the point is where it begins: all of it
		"__internal-0/00000000000000000000.log": 9, "a-3.0f-delete/00000000000000000000.log": 9, "a-4/leader-epoch-checkpoint": 9,
	} {
		put(name, size)
	}
	var index []byte
	for _, e := range [][2]uint32{{2, 250}, {4, 500}, {6, 750}, {0, 0}, {0, 0}} { // the last are room not used yet
		index = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(index, e[0]), e[1])
	}
	if err := os.WriteFile(filepath.Join(dir, "a-0/00000000000000000010.index"), index, 0o644); err != nil {
		t.Fatal(err)
	}
	points := filepath.Join(dir, "recovery-point-offset-checkpoint")
	if err := os.WriteFile(points, []byte("0\n2\na 0 15\na 2 7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := takeStock(dir); err != nil || n != 1500+3000+1<<21+50 {
		t.Errorf("%d bytes, %v", n, err)
	}
	put(".kafka_cleanshutdown", 1)
	if n, err := takeStock(dir); err != nil || n != 0 {
		t.Errorf("after a clean stop %d bytes, %v", n, err)
	}
	if err := os.WriteFile(points, []byte("0\n1\na 0 x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := takeStock(dir); err == nil {
		t.Error("a broken file of recovery points is taken")
	}
	if _, err := takeStock(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that is not there is taken")
	}
}
