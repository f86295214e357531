package main

import (
	"runtime"

	"millrace/netpoll"
	"millrace/netpoll/epoll"
)

// drivers are the I/O drivers of this binary. uring.go adds io_uring.
var drivers = []netpoll.DriverFactory{epoll.Factory()}

// loopCount is how many event loops to run: what is configured, else one per processor this process may use (affinity
// and cgroup counted by the runtime).
func loopCount(configured int) int {
	if configured > 0 {
		return configured
	}
	return runtime.GOMAXPROCS(0)
}

// spareProcs are the scheduler's processors beside the loops': a loop holds its own while it runs, and the collector and
// offloaded work need some.
const spareProcs = 2
