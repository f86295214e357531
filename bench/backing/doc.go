// Package backing keeps a virtual machine's memory backed between runs of a measurement. A guest that reports free pages gives
// them back to its host, and whoever uses them next pays for a fault outside the guest: up to 3 CPU-s per GB, by chance to one
// target and not to the next. Between runs the memory is held here; during a run as much is given back as the page cache takes.
//
// It never holds what others need: it takes only what is spare, and gives back before the kernel has to look for pages.
//
// Files: memory.go (all of it).
package backing
