package engine

import (
	"testing"

	"golang.org/x/sys/unix"

	"millrace/vfs"
)

// TestRemovalsGiveWay: a removal runs on a thread with less priority than the loops have, unless it has waited long.
func TestRemovalsGiveWay(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	nice := make(chan int, 1)
	do := func(bool) {
		raw, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
		if err != nil {
			t.Error(err)
		}
		nice <- 20 - raw // the kernel's own form
	}
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	own := 20 - raw
	for _, c := range []struct {
		waitedMs int64
		want     int
	}{{0, backgroundNice}, {removeLagMs + 1000, own}, {0, backgroundNice}} {
		e.dirs[0].remover.add(removal{sinceMs: e.wallMs() - c.waitedMs, do: do})
		if got := <-nice; got != c.want {
			t.Errorf("a removal that waited %d ms runs at nice %d, want %d", c.waitedMs, got, c.want)
		}
	}
}
