package backing

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Memory is what is held. Its methods are for one goroutine; while a run is under way its feeder alone touches chunks.
type Memory struct {
	want   int64 // bytes to hold; 0: nothing
	chunk  int64
	low    int64        // bytes that are to be free during a run
	free   func() int64 // in the kernel's lists
	spare  func() int64 // what could be had, clean pages of files included
	chunks [][]byte
	stop   chan struct{}
	done   sync.WaitGroup
}

// New holds so many bytes between runs from the first Take on; 0: none ever.
func New(bytes int64) *Memory {
	return &Memory{want: bytes, chunk: 256 << 20, low: 2 << 30, free: freeMemory, spare: spareMemory}
}

// freeMemory is what the kernel has in its free lists; the page cache is not counted.
func freeMemory() int64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0
	}
	return int64(s.Freeram) * int64(s.Unit)
}

// spareMemory is MemAvailable of the kernel.
func spareMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// Take holds memory again, as far as there is some that nobody uses.
func (b *Memory) Take() error {
	for int64(len(b.chunks))*b.chunk < b.want && b.spare() > b.low {
		m, err := unix.Mmap(-1, 0, int(b.chunk), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return fmt.Errorf("memory to hold between runs: %w", err)
		}
		_ = unix.Madvise(m, unix.MADV_HUGEPAGE) // quicker to take and to give back, where the kernel has them
		if err := unix.Madvise(m, unix.MADV_POPULATE_WRITE); err != nil {
			_ = unix.Munmap(m)
			return fmt.Errorf("memory to hold between runs: %w", err)
		}
		b.chunks = append(b.chunks, m)
	}
	return nil
}

// Begin starts to give memory back as it is used, from a thread on the given CPUs.
func (b *Memory) Begin(pin func()) {
	if b.want == 0 {
		return
	}
	stop := make(chan struct{})
	b.stop = stop
	b.done.Go(func() {
		runtime.LockOSThread() // not unlocked: the thread ends, and its pinning with it
		pin()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			for n := len(b.chunks); n > 0 && b.free() < b.low; n-- {
				_ = unix.Munmap(b.chunks[n-1])
				b.chunks = b.chunks[:n-1]
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
}

// End stops that.
func (b *Memory) End() {
	if b.stop != nil {
		close(b.stop)
		b.done.Wait()
		b.stop = nil
	}
}

// Drop gives everything back.
func (b *Memory) Drop() {
	for _, m := range b.chunks {
		_ = unix.Munmap(m)
	}
	b.chunks = nil
}
