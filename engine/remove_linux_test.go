package engine

import (
	"testing"
	"time"

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
		waited time.Duration
		want   int
	}{{0, backgroundNice}, {removeLag + time.Second, own}, {0, backgroundNice}} {
		e.remover.add(removal{time.Now().Add(-c.waited), do})
		if got := <-nice; got != c.want {
			t.Errorf("a removal that waited %v runs at nice %d, want %d", c.waited, got, c.want)
		}
	}
}
