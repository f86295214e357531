package vfs

import (
	"io/fs"
	"syscall"
)

// Allocated is how many bytes of blocks a file has, by what Stat said of it; more than its size after File.Allocate, and with
// file systems that allocate ahead by themselves. Where nothing is known it is the size.
func Allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * statBlock
	}
	return info.Size()
}

// statBlock is the unit of st_blocks, whatever the file system's block size.
const statBlock = 512
