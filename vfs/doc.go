// Package vfs is the one seam between Millrace and files.
//
// Namespace calls (create, rename, list, remove, directory sync) are blocking methods of FS and are made
// only at start-up, on ordinary goroutines or through netpoll's Loop.Offload. Hot operations (vectored write,
// datasync, cold read) are netpoll driver ops that carry a File: a driver uses the descriptor if Fd reports
// one, else it calls the File's methods, so that the in-memory and fault-injecting file systems see every
// append and every sync that a real disk would see.
//
// It never interprets what is stored and keeps no global state.
//
// Files: fs.go (the contracts), call.go (names of calls), os.go (real files), mem.go, mem_file.go and mem_image.go (in
// memory, with crash images), faulty.go (injects faults into another FS), lock_linux.go (OFD record locks).
package vfs
