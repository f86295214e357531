package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"millrace/test/harness"
)

// smallDisk mounts a file system of its own, so that a test can fill it or cut its power. Owned by the test.
type smallDisk struct {
	t          *testing.T
	image, dir string
	tmpfs      bool
}

// newTmpfs mounts a tmpfs of the given size.
func newTmpfs(t *testing.T, megabytes int) *smallDisk {
	t.Helper()
	d := &smallDisk{t: t, dir: t.TempDir(), tmpfs: true}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		harness.Missing(t, "mounting a tmpfs (needs root): %v", err)
	}
	t.Cleanup(d.unmount)
	return d
}

// newExt4 makes an ext4 image and mounts it through a loop device.
func newExt4(t *testing.T, megabytes int) *smallDisk {
	t.Helper()
	base := t.TempDir()
	d := &smallDisk{t: t, image: filepath.Join(base, "image"), dir: filepath.Join(base, "mnt")}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(d.image)
	if err == nil {
		err = f.Truncate(int64(megabytes) << 20)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	mkfs := "mkfs.ext4"
	if _, err := exec.LookPath(mkfs); err != nil {
		mkfs = "/sbin/mkfs.ext4"
	}
	if out, err := exec.Command(mkfs, "-q", "-F", "-m", "0", d.image).CombinedOutput(); err != nil {
		harness.Missing(t, "mkfs.ext4: %v: %s", err, out)
	}
	if err := d.mount(); err != nil {
		harness.Missing(t, "mounting an ext4 image (needs root and loop devices): %v", err)
	}
	t.Cleanup(d.unmount)
	return d
}

func (d *smallDisk) mount() error {
	out, err := exec.Command("mount", "-o", "loop", d.image, d.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// unmount waits for the last file to be closed; what a killed broker held takes a moment.
func (d *smallDisk) unmount() {
	var err error
	for range 100 {
		var out []byte
		if out, err = exec.Command("umount", d.dir).CombinedOutput(); err == nil || strings.Contains(string(out), "not mounted") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.t.Errorf("umount %s: %v", d.dir, err)
}

// cutPower stops the file system at once, without its journal: what was not synced is gone.
func (d *smallDisk) cutPower() error {
	f, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	defer f.Close()
	const shutdown = 0x8004587d // FS_IOC_SHUTDOWN
	dropJournal := uint32(2)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&dropJournal))); errno != 0 {
		return errno
	}
	return nil
}

// fill takes all free space in one file beside the broker's directory and returns its path.
func (d *smallDisk) fill() string {
	d.t.Helper()
	path := filepath.Join(d.dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	chunk := make([]byte, 64<<10)
	for size := len(chunk); size > 0; {
		if _, err := f.Write(chunk[:size]); err != nil {
			size /= 2 // down to the last byte
		}
	}
	return path
}
