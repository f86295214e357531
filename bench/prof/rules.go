package prof

import "strings"

// Subsystems that are not packages.
const (
	Sockets    = "kernel: sockets"
	FileWrite  = "kernel: file write"
	FileRead   = "kernel: file read"
	FileSend   = "kernel: sendfile/splice"
	Sync       = "kernel: sync"
	RingEnter  = "kernel: io_uring enter"
	Poll       = "kernel: epoll"
	OtherCalls = "kernel: other calls"
	GC         = "runtime: collection"
	Alloc      = "runtime: allocation"
	Sched      = "runtime: scheduling"
	Runtime    = "runtime: other"
	Checksum   = "crc"
	Codec      = "compression"
)

// calls sorts system calls by words in the names of the wrappers and of the functions that call them, innermost first.
var calls = []struct{ word, subsystem string }{
	{"sendfile", FileSend}, {"splice", FileSend},
	{"pwrite", FileWrite}, {"fallocate", FileWrite}, {"ftruncate", FileWrite}, {"writefile", FileWrite}, {"filewrite", FileWrite}, {"writeat", FileWrite},
	{"datasync", Sync}, {"fsync", Sync}, {"syncfs", Sync}, {"sync_file", Sync},
	{"pread", FileRead}, {"readat", FileRead}, {"fileread", FileRead}, {"readfile", FileRead},
	{"recv", Sockets}, {"send", Sockets}, {"writemsg", Sockets}, {"readmsg", Sockets}, {"accept", Sockets}, {"shutdown", Sockets}, {"sockopt", Sockets}, {"socket", Sockets},
	{"poll", Poll},
	{"io_uring", RingEnter}, {"iouring", RingEnter}, {"giouring", RingEnter}, {"enter", RingEnter}, {"submit", RingEnter},
	{"writev", Sockets}, {"conn).write", Sockets}, {"conn).read", Sockets},
}

// prefixes sorts frames that are not system calls, innermost first; what is not listed goes to its package.
var prefixes = []struct{ prefix, subsystem string }{
	{"runtime.gc", GC}, {"runtime.scanobject", GC}, {"runtime.scanblock", GC}, {"runtime.greyobject", GC}, {"runtime.markroot", GC}, {"runtime.sweep", GC},
	{"runtime.bgsweep", GC}, {"runtime.bgscavenge", GC}, {"runtime.(*sweepLocked)", GC}, {"runtime.(*gcWork)", GC}, {"runtime.wbBuf", GC},
	{"runtime.mallocgc", Alloc}, {"runtime.newobject", Alloc}, {"runtime.makeslice", Alloc}, {"runtime.growslice", Alloc}, {"runtime.(*mcache)", Alloc}, {"runtime.(*mheap)", Alloc},
	{"runtime.schedule", Sched}, {"runtime.findRunnable", Sched}, {"runtime.park_m", Sched}, {"runtime.mcall", Sched}, {"runtime.futex", Sched}, {"runtime.notesleep", Sched},
	{"runtime.sysmon", Sched}, {"runtime.mstart", Sched}, {"runtime.goschedImpl", Sched}, {"runtime.stopm", Sched}, {"runtime.startm", Sched}, {"runtime.usleep", Sched},
	{"hash/crc32.", Checksum}, {"millrace/internal/crc32c.", Checksum},
	{"github.com/klauspost/compress", Codec}, {"github.com/pierrec/lz4", Codec}, {"compress/", Codec},
}

// classify names the subsystem of a stack, innermost frame first.
func classify(frames []string) string {
	if len(frames) == 0 {
		return Runtime
	}
	if isSyscall(frames[0]) || strings.HasPrefix(frames[0], "runtime.vdso") {
		return classifyCall(frames)
	}
	for _, f := range frames {
		for _, p := range prefixes {
			if strings.HasPrefix(f, p.prefix) {
				return p.subsystem
			}
		}
		// memmove, atomics and the like belong to whoever called.
		if strings.HasPrefix(f, "runtime.") || strings.HasPrefix(f, "internal/") || isSyscall(f) {
			continue
		}
		return pkg(f)
	}
	return Runtime
}

// classifyCall looks for a word in the wrappers and the first two frames of our own above them.
func classifyCall(frames []string) string {
	own := 0
	for _, f := range frames {
		lower := strings.ToLower(f)
		if !isSyscall(f) && !strings.Contains(lower, "giouring") {
			_, lower, _ = strings.Cut(lower[strings.LastIndexByte(lower, '/')+1:], ".") // a package's name says nothing about the call
		}
		if !strings.HasPrefix(f, "syscall.Syscall") && !strings.HasPrefix(f, "syscall.RawSyscall") && !strings.Contains(f, "runtime/syscall") && !strings.HasPrefix(f, "runtime.") {
			for _, c := range calls {
				if strings.Contains(lower, c.word) {
					return c.subsystem
				}
			}
		}
		if strings.HasPrefix(f, "runtime.netpoll") {
			return Poll
		}
		if !isSyscall(f) && !strings.HasPrefix(f, "runtime.") {
			if own++; own == 2 {
				break
			}
		}
	}
	return OtherCalls
}

// pkg cuts a function's name down to its package's path; ours lose the module's name.
func pkg(f string) string {
	slash := strings.LastIndexByte(f, '/')
	if dot := strings.IndexByte(f[slash+1:], '.'); dot >= 0 {
		f = f[:slash+1+dot]
	}
	return strings.TrimPrefix(f, "millrace/")
}
