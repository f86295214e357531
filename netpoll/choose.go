package netpoll

import (
	"fmt"
	"strings"
)

// Choose picks the driver for io.engine: auto takes uring when it was built in and the kernel allows it, else
// epoll; a driver asked for by name that cannot be used is an error that says what to do. reason is one line for
// the log.
func Choose(engine string, drivers []DriverFactory) (f DriverFactory, reason string, err error) {
	uring, hasURing := find(drivers, "uring")
	epoll, hasEpoll := find(drivers, "epoll")
	switch engine {
	case "", "auto":
		if !hasEpoll && !hasURing {
			return f, "", fmt.Errorf("io.engine=auto: no driver was built in")
		}
		if !hasURing {
			return epoll, "epoll: io_uring was not built in (build with: make build, or go build -tags uring -ldflags=-checklinkname=0 ./cmd/millrace)", nil
		}
		perr := uring.Probe()
		if perr == nil {
			return uring, "uring: the kernel allows it (io.engine=auto)", nil
		}
		if !hasEpoll {
			return f, "", fmt.Errorf("io.engine=auto: io_uring cannot be used (%w) and no other driver was built in", perr)
		}
		return epoll, fmt.Sprintf("epoll: io_uring cannot be used: %v", perr), nil
	case "uring":
		if !hasURing {
			return f, "", fmt.Errorf("io.engine=uring: this binary was built without io_uring; build it with `make build` or set io.engine=epoll")
		}
		if perr := uring.Probe(); perr != nil {
			return f, "", fmt.Errorf("io.engine=uring: the kernel refuses io_uring: %w; allow it (sysctl kernel.io_uring_disabled=0, a seccomp profile with io_uring_setup) or set io.engine=auto or epoll", perr)
		}
		return uring, "uring: asked for by io.engine", nil
	}
	if f, ok := find(drivers, engine); ok {
		if f.Probe != nil {
			if perr := f.Probe(); perr != nil {
				return f, "", fmt.Errorf("io.engine=%s: %w", engine, perr)
			}
		}
		return f, engine + ": asked for by io.engine", nil
	}
	names := []string{"auto"}
	for _, d := range drivers {
		names = append(names, d.Name)
	}
	return f, "", fmt.Errorf("io.engine=%s: unknown; allowed here: %s", engine, strings.Join(names, ", "))
}

func find(drivers []DriverFactory, name string) (DriverFactory, bool) {
	for _, d := range drivers {
		if d.Name == name {
			return d, true
		}
	}
	return DriverFactory{}, false
}
