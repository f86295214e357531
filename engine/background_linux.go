package engine

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// backgroundNice is the nice value of threads that clean: a loop that wakes gets the processor at once, and what is left over
// still is a tenth of it, so that a collection that waits for such a thread does not wait long.
const backgroundNice = 10

// inBackground runs fn on a thread of its own that gives way to the loops' threads. The thread ends with it, for niceness cannot
// be taken back.
func inBackground(fn func()) {
	go func() {
		runtime.LockOSThread()
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), backgroundNice) // refused: it runs as the others do
		fn()
	}()
}
