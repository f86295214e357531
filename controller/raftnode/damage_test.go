package raftnode

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"millrace/controller"
	"millrace/vfs"
)

// history makes a directory with two generations and returns the image's bytes before and after the last command.
func history(t *testing.T, m *vfs.Mem) (before, after []byte) {
	w := newWorld(t, m)
	w.opts.SnapshotBytes = 1
	w.mustOpen()
	for len(list(t, m)) < 4 {
		w.must(&controller.AllocateProducerIDs{Count: 7})
	}
	w.must(createTopic("a", 1))
	before = image(w.r.Image())
	w.must(createTopic("b", 1))
	return before, image(w.r.Image())
}

// reopened is the image after a start on m that proposes nothing, taken back to where the log ended.
func reopened(t *testing.T, m *vfs.Mem, index uint64) ([]byte, error) {
	w := newWorld(t, m)
	r, err := Open(w.opts)
	if err != nil {
		return nil, err
	}
	if err := r.turn(); err != nil {
		t.Fatal(err)
	}
	b := controller.NewBuilder(r.Image())
	b.SetIndex(index)
	im, _ := b.Done()
	return image(im), nil
}

// TestEveryByteDamaged flips every byte of every file: the start is refused, or nothing is lost; only the last
// batch can pass for a write that never ended, and then only if it has a sector of zeros.
func TestEveryByteDamaged(t *testing.T) {
	m := emptyMem(t)
	_, after := history(t, m)
	im, err := controller.DecodeImage(after)
	if err != nil {
		t.Fatal(err)
	}
	files := list(t, m)
	if len(files) < 4 {
		t.Fatalf("files %v", files)
	}
	refused, survived := 0, 0
	for i, name := range files {
		path := filepath.Join("/data", DirName, name)
		content, err := m.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := range content {
			c := m.Clone()
			write(t, c, path, []byte{content[at] ^ 0x55}, int64(at))
			got, err := reopened(t, c, im.Index())
			var damage *DamageError
			switch {
			case errors.As(err, &damage):
				refused++
			case err != nil && i < len(files):
				refused++ // an unknown version, another node's id
			case !bytes.Equal(got, after):
				t.Fatalf("%s: byte %d flipped: another image, without an error", name, at)
			default:
				survived++
			}
		}
	}
	if refused == 0 || survived == 0 {
		t.Errorf("refused %d, survived %d", refused, survived)
	}
}

// TestCutAnywhere cuts the last file at every length: what is whole stays, and the file's first batch is never
// taken for torn, because a file has its name only after it was synced.
func TestCutAnywhere(t *testing.T) {
	m := emptyMem(t)
	before, after := history(t, m)
	im, err := controller.DecodeImage(after)
	if err != nil {
		t.Fatal(err)
	}
	var last string
	for _, name := range list(t, m) {
		if _, ok := number(name, logSuffix); ok {
			last = filepath.Join("/data", DirName, name)
		}
	}
	content, err := m.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	gotBefore := false
	for n := range content {
		c := m.Clone()
		f, err := c.Open(last)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(int64(n)); err != nil {
			t.Fatal(err)
		}
		got, err := reopened(t, c, im.Index())
		var damage *DamageError
		if err != nil && !errors.As(err, &damage) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if err == nil && bytes.Equal(got, after) {
			t.Fatalf("cut to %d of %d bytes: nothing is lost?", n, len(content))
		}
		b, err := controller.DecodeImage(before)
		if err != nil {
			t.Fatal(err)
		}
		bb := controller.NewBuilder(b)
		bb.SetIndex(im.Index())
		bi, _ := bb.Done()
		if damage == nil && bytes.Equal(got, image(bi)) {
			gotBefore = true
		}
		if damage != nil && (damage.Offset != 0 || damage.File != last) {
			t.Fatalf("cut to %d bytes: %v", n, damage)
		}
	}
	if !gotBefore {
		t.Error("the last command alone was never cut")
	}
}

// TestNewestSnapshotDamaged goes back a generation and has everything all the same.
func TestNewestSnapshotDamaged(t *testing.T) {
	m := emptyMem(t)
	_, after := history(t, m)
	im, err := controller.DecodeImage(after)
	if err != nil {
		t.Fatal(err)
	}
	var snaps []string
	for _, name := range list(t, m) {
		if _, ok := number(name, snapSuffix); ok {
			snaps = append(snaps, filepath.Join("/data", DirName, name))
		}
	}
	write(t, m, snaps[len(snaps)-1], []byte{0, 0, 0, 0}, 40)
	got, err := reopened(t, m.Clone(), im.Index())
	if err != nil || !bytes.Equal(got, after) {
		t.Fatalf("another image, or error %v", err)
	}
	for _, s := range snaps {
		write(t, m, s, []byte{0, 0, 0, 0}, 40)
	}
	var damage *DamageError
	if _, err := reopened(t, m.Clone(), im.Index()); len(snaps) > 1 && !errors.As(err, &damage) {
		t.Errorf("all snapshots damaged: %v", err)
	}
}

func write(t *testing.T, m *vfs.Mem, path string, b []byte, at int64) {
	t.Helper()
	f, err := m.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
