// Package epoll is the netpoll driver for kernels, containers and builds without io_uring. It turns readiness into
// completions: sockets are registered once, edge triggered, and it remembers which of them are readable; a started receive is carried
// out when its socket is. Appends are written on the loop thread; datasyncs, cold reads and appends behind a
// cold page run on workers and come back by the loop's mailbox.
//
// It never calls a completer from Start, and it never registers a socket twice: a steady connection costs no
// epoll_ctl.
//
// Everything is owned by the loop's thread, but Wake.
//
// Files: driver.go (Driver, files, wait), sock.go (sockets).
package epoll
