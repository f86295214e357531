package crash

import (
	"path/filepath"
	"testing"
	"time"
)

// TestPowerCut (PC3): the file system under an acks=all load is cut off without its journal, the broker killed, the image mounted again.
// Everything acknowledged is there, once, in order. Reports B59 and B61.
func TestPowerCut(t *testing.T) {
	rng, seed := seeded(t)
	disk := newExt4(t, 1024)
	b := start(t, filepath.Join(disk.dir, "data"))
	l := startLoad(t, b, seed, "small", 3, 0, "segment.bytes", "1048576", "retention.ms", "-1")
	defer l.abandon()
	l = l.join(startLoad(t, b, seed+1, "large", 1, 0, "retention.ms", "-1"))
	defer l.abandon()
	var times startTimes
	for range rounds(t, 8) {
		l.progress(1, 20*time.Second)
		time.Sleep(time.Duration(50+rng.IntN(1000)) * time.Millisecond)
		l.failures()
		l.setOutage(true)
		if err := disk.cutPower(); err != nil {
			t.Fatalf("cutting the power: %v", err)
		}
		time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond) // no acknowledgement may come any more
		b.Kill()
		l.setOutage(false)
		disk.unmount()
		if err := disk.mount(); err != nil {
			t.Fatal(err)
		}
		if err := b.Launch(); err != nil {
			t.Fatal(err)
		}
		times.add(b.ReadyAfter)
		// Only now is what is read known to be on the disk: a synced end may be ahead of what a reader saw.
		l.verify()
	}
	l.progress(50, 20*time.Second)
	l.finish()
	times.check(t)
	if err := b.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	cleanDump(t, b, "after power cuts", "small", "large")
}
