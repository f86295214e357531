package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"millrace/vfs"
)

var (
	_ vfs.FS = vfs.OS{}
	_ vfs.FS = (*vfs.Mem)(nil)
	_ vfs.FS = (*vfs.Faulty)(nil)
)

// TestConformance runs the contract of FS and File on every implementation.
func TestConformance(t *testing.T) {
	kinds := map[string]func(t *testing.T) (vfs.FS, string){
		"os":        func(t *testing.T) (vfs.FS, string) { return vfs.OS{}, t.TempDir() },
		"mem":       func(t *testing.T) (vfs.FS, string) { return vfs.NewMem(), "/" },
		"faulty-os": func(t *testing.T) (vfs.FS, string) { return vfs.NewFaulty(vfs.OS{}), t.TempDir() },
	}
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			for _, c := range conformance {
				t.Run(c.name, func(t *testing.T) {
					fsys, dir := open(t)
					c.run(t, fsys, dir)
				})
			}
		})
	}
}

var conformance = []struct {
	name string
	run  func(t *testing.T, fsys vfs.FS, dir string)
}{
	{"create", testCreate}, {"writev", testWritev}, {"read at the end", testReadEnd}, {"truncate", testTruncate},
	{"namespace", testNamespace}, {"atomic", testAtomic}, {"removed file stays readable", testUnlinked},
	{"direct", testDirect}, {"lock", testLock}, {"closed", testClosed}, {"nowait", testNowait}, {"usage", testUsage},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, fsys vfs.FS, name string) vfs.File {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func testCreate(t *testing.T, fsys vfs.FS, dir string) {
	name := filepath.Join(dir, "f")
	if _, err := fsys.Open(name); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("open of nothing: %v", err)
	}
	f := create(t, fsys, name)
	if f.Name() != name {
		t.Fatalf("name %q", f.Name())
	}
	if _, err := fsys.Create(name); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("second create: %v", err)
	}
	if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	g, err := fsys.CreateTrunc(name)
	must(t, err)
	defer g.Close()
	if n, err := g.Size(); n != 0 || err != nil {
		t.Fatalf("size after CreateTrunc %d %v", n, err)
	}
	if _, err := fsys.Create(filepath.Join(dir, "no", "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("create without a directory: %v", err)
	}
}

func testWritev(t *testing.T, fsys vfs.FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "f"))
	var bufs [][]byte
	var want []byte
	for i := range 3000 { // more than one call to the kernel may take
		b := bytes.Repeat([]byte{byte(i)}, i%7)
		bufs, want = append(bufs, b), append(want, b...)
	}
	n, err := f.WritevAt(bufs, 10)
	if err != nil || n != int64(len(want)) {
		t.Fatalf("writev %d %v", n, err)
	}
	must(t, f.Datasync())
	got, err := fsys.ReadFile(f.Name())
	must(t, err)
	if !bytes.Equal(got, append(make([]byte, 10), want...)) {
		t.Fatal("bytes differ")
	}
	if len(bufs) != 3000 || len(bufs[6]) != 6 {
		t.Fatal("the caller's slice was changed")
	}
}

func testReadEnd(t *testing.T, fsys vfs.FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "f"))
	_, err := f.WriteAt([]byte("0123456789"), 0)
	must(t, err)
	b := make([]byte, 6)
	if n, err := f.ReadAt(b, 6); n != 4 || err != io.EOF || string(b[:n]) != "6789" {
		t.Fatalf("%d %v", n, err)
	}
	if n, err := f.ReadAt(b, 4); n != 6 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	if n, err := f.ReadAt(b, 100); n != 0 || err != io.EOF {
		t.Fatalf("%d %v", n, err)
	}
	r, err := fsys.OpenRead(f.Name())
	must(t, err)
	defer r.Close()
	if _, err := r.WriteAt([]byte("x"), 0); err == nil {
		t.Fatal("write through a file opened for reading")
	}
}

func testTruncate(t *testing.T, fsys vfs.FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "f"))
	_, err := f.WriteAt([]byte("0123456789"), 0)
	must(t, err)
	must(t, f.Truncate(4))
	must(t, f.Truncate(8))
	must(t, f.Allocate(0, 1<<16))
	got, err := fsys.ReadFile(f.Name())
	must(t, err)
	if string(got) != "0123\x00\x00\x00\x00" {
		t.Fatalf("%q", got)
	}
	if n, _ := f.Size(); n != 8 {
		t.Fatalf("size %d", n)
	}
}

func testNamespace(t *testing.T, fsys vfs.FS, dir string) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	must(t, fsys.MkdirAll(filepath.Join(a, "x", "y")))
	must(t, fsys.MkdirAll(filepath.Join(a, "x", "y")))
	if err := fsys.Mkdir(a); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("mkdir of an existing: %v", err)
	}
	for _, n := range []string{"z", "k", "m"} {
		create(t, fsys, filepath.Join(a, n))
	}
	must(t, fsys.SyncDir(a))
	must(t, fsys.SyncFS(a))
	list, err := fsys.List(a)
	must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if len(names) != 4 || names[0] != "k" || names[1] != "m" || names[2] != "x" || names[3] != "z" || !list[2].IsDir() {
		t.Fatalf("%v", names)
	}
	must(t, fsys.Rename(a, b))
	must(t, fsys.Rename(filepath.Join(b, "k"), filepath.Join(b, "m")))
	if _, err := fsys.Stat(filepath.Join(b, "k")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("after rename: %v", err)
	}
	if err := fsys.Remove(b); err == nil {
		t.Fatal("a directory with files was removed")
	}
	must(t, fsys.Remove(filepath.Join(b, "z")))
	if err := fsys.Remove(filepath.Join(b, "z")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("second remove: %v", err)
	}
	must(t, fsys.RemoveAll(b))
	must(t, fsys.RemoveAll(b))
	if _, err := fsys.List(b); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("list of nothing: %v", err)
	}
}

func testAtomic(t *testing.T, fsys vfs.FS, dir string) {
	name := filepath.Join(dir, "c")
	must(t, fsys.WriteFileAtomic(name, []byte("one")))
	must(t, fsys.WriteFileAtomic(name, []byte("two!")))
	got, err := fsys.ReadFile(name)
	if err != nil || string(got) != "two!" {
		t.Fatalf("%q %v", got, err)
	}
	if l, _ := fsys.List(dir); len(l) != 1 {
		t.Fatalf("left-overs: %v", l)
	}
}

func testUnlinked(t *testing.T, fsys vfs.FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "f"))
	_, err := f.WriteAt([]byte("abc"), 0)
	must(t, err)
	must(t, fsys.Remove(f.Name()))
	b := make([]byte, 3)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "abc" {
		t.Fatalf("%q %v", b, err)
	}
}

func testDirect(t *testing.T, fsys vfs.FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "f"))
	want := make([]byte, 3<<20+7777)
	for i := range want {
		want[i] = byte(i * 7 >> 3)
	}
	_, err := f.WriteAt(want, 0)
	must(t, err)
	must(t, f.Datasync())
	d, err := fsys.OpenDirect(f.Name())
	must(t, err)
	defer d.Close()
	for _, r := range [][2]int{{0, 10}, {1, 4096}, {4095, 2}, {5000, 3 << 20}, {3<<20 + 7700, 77}, {0, len(want)}} {
		b := make([]byte, r[1])
		n, err := d.ReadAt(b, int64(r[0]))
		if err != nil || n != r[1] || !bytes.Equal(b, want[r[0]:r[0]+r[1]]) {
			t.Fatalf("%v: %d %v", r, n, err)
		}
	}
	b := make([]byte, 100)
	if n, err := d.ReadAt(b, int64(len(want)-7)); n != 7 || err != io.EOF {
		t.Fatalf("at the end: %d %v", n, err)
	}
	if n, err := d.ReadAt(b, int64(len(want))+9999); n != 0 || err != io.EOF {
		t.Fatalf("past the end: %d %v", n, err)
	}
}

func testLock(t *testing.T, fsys vfs.FS, dir string) {
	name := filepath.Join(dir, ".lock")
	l, err := fsys.Lock(name)
	must(t, err)
	_, err = fsys.Lock(name)
	if !errors.Is(err, vfs.ErrLocked) || !bytes.Contains([]byte(err.Error()), []byte(name)) {
		t.Fatalf("second lock: %v", err)
	}
	must(t, l.Close())
	l, err = fsys.Lock(name)
	must(t, err)
	must(t, l.Close())
}

func testClosed(t *testing.T, fsys vfs.FS, dir string) {
	f, err := fsys.Create(filepath.Join(dir, "f"))
	must(t, err)
	must(t, f.Close())
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Fatalf("second close: %v", err)
	}
}

func testNowait(t *testing.T, fsys vfs.FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "f"))
	_, err := f.WriteAt([]byte("hello"), 0)
	must(t, err)
	r, ok := f.(vfs.NowaitReader)
	if !ok {
		return // a fault-injecting file answers by ReadAt only
	}
	b := make([]byte, 5)
	if n, err := r.ReadAtNowait(b, 0); err != vfs.ErrWouldBlock && (err != nil || n != 5 || string(b) != "hello") {
		t.Fatalf("%d %v %q", n, err, b)
	}
}

func testUsage(t *testing.T, fsys vfs.FS, dir string) {
	total, free, err := fsys.Usage(dir)
	if err != nil || total == 0 || free > total {
		t.Fatalf("%d %d %v", total, free, err)
	}
}

func TestFaulty(t *testing.T) {
	mem := vfs.NewMem()
	f := vfs.NewFaulty(mem)
	file := create(t, f, "/x")
	f.FailNth(vfs.OpDatasync, "x", 2, syscall.EIO)
	must(t, file.Datasync())
	if err := file.Datasync(); err != syscall.EIO {
		t.Fatalf("second sync: %v", err)
	}
	must(t, file.Datasync())
	f.Clear()
	f.Rule(func(c vfs.Call) vfs.Fault {
		if c.Op == vfs.OpWritevAt {
			return vfs.Fault{Err: syscall.ENOSPC, Short: 5}
		}
		return vfs.Fault{}
	})
	n, err := file.WritevAt([][]byte{[]byte("abc"), []byte("defg")}, 0)
	if n != 5 || err != syscall.ENOSPC {
		t.Fatalf("short write: %d %v", n, err)
	}
	if got, _ := mem.ReadFile("/x"); string(got) != "abcde" {
		t.Fatalf("%q", got)
	}
	if f.Hits() != 2 || file.Fd() != -1 {
		t.Fatalf("hits %d", f.Hits())
	}
}

// TestMemImages draws many images of a small history and checks that each is legal and that all interesting ones occur.
func TestMemImages(t *testing.T) {
	m := vfs.NewMem()
	f := create(t, m, "/a")
	_, err := f.WriteAt(bytes.Repeat([]byte{1}, 1024), 0)
	must(t, err)
	must(t, f.Datasync())
	must(t, m.SyncDir("/"))
	_, err = f.WriteAt(bytes.Repeat([]byte{2}, 1024), 512) // two sectors: one overwritten, one new
	must(t, err)
	must(t, m.Rename("/a", "/b"))
	create(t, m, "/c")

	seen := map[string]int{}
	for seed := range uint64(400) {
		im := m.Image(seed)
		key := ""
		for _, n := range []string{"/a", "/b", "/c"} {
			if b, err := im.ReadFile(n); err == nil {
				key += n
				if n == "/c" {
					continue
				}
				if len(b) != 1024 && len(b) != 1536 || b[0] != 1 || b[511] != 1 {
					t.Fatalf("seed %d: illegal content, %d bytes", seed, len(b))
				}
				for s := 512; s < len(b); s += 512 {
					if bytes.Count(b[s:s+512], b[s:s+1]) != 512 {
						t.Fatalf("seed %d: sector %d is torn inside", seed, s)
					}
					key += string('0' + b[s])
				}
			}
		}
		seen[key]++
	}
	for _, want := range []string{"/a1", "/b22/c", "/b1", "/a1/c", "/a22", "/a12", "/a20"} {
		if seen[want] == 0 {
			t.Errorf("no image %q in %v", want, seen)
		}
	}
	for key := range seen {
		if bytes.Contains([]byte(key), []byte("/a")) && bytes.Contains([]byte(key), []byte("/b")) ||
			!bytes.Contains([]byte(key), []byte("/a")) && !bytes.Contains([]byte(key), []byte("/b")) {
			t.Errorf("rename was not atomic: %q", key)
		}
	}
	if b, err := m.Image(0).ReadFile("/a"); err != nil || len(b) != 1024 || b[600] != 1 {
		t.Fatal("seed 0 must keep what was synced only")
	}
	if b, err := m.Clone().ReadFile("/b"); err != nil || len(b) != 1536 {
		t.Fatal("a clone must keep everything")
	}
}

func TestMemCrashPoint(t *testing.T) {
	m := vfs.NewMem()
	m.CrashAfter(2)
	f, err := m.Create("/a")
	must(t, err)
	_, err = f.WriteAt([]byte("x"), 0)
	must(t, err)
	if err := f.Datasync(); err != vfs.ErrCrashed {
		t.Fatalf("third change: %v", err)
	}
	if _, err := m.ReadFile("/a"); err != vfs.ErrCrashed || !m.Crashed() {
		t.Fatalf("after the crash: %v", err)
	}
	if _, err := m.Image(0).ReadFile("/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("nothing was synced: %v", err)
	}
}

func TestMemLostSync(t *testing.T) {
	m := vfs.NewMem()
	f := create(t, m, "/a")
	must(t, m.SyncDir("/"))
	_, err := f.WriteAt([]byte("abc"), 0)
	must(t, err)
	must(t, m.LosePending("/a"))
	must(t, f.Datasync())
	if got, _ := m.ReadFile("/a"); string(got) != "abc" {
		t.Fatalf("cache shows %q", got)
	}
	d, err := m.OpenDirect("/a")
	must(t, err)
	if n, _ := d.Size(); n != 0 {
		t.Fatalf("the disk has %d bytes", n)
	}
}

func TestMemFull(t *testing.T) {
	m := vfs.NewMem()
	m.SetCapacity(10)
	f := create(t, m, "/a")
	n, err := f.WriteAt(make([]byte, 16), 0)
	if n != 10 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%d %v", n, err)
	}
	if _, free, _ := m.Usage("/"); free != 0 {
		t.Fatalf("free %d", free)
	}
}
