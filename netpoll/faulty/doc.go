// Package faulty is a netpoll driver that wraps another one and makes chosen file operations fail, come short or take
// long. It stands in for a fault layer that system-call tracing cannot be: ring operations pass by every tracer.
//
// It never touches sockets. A Plan may be changed from any goroutine; the wrapped drivers are owned by their loops.
package faulty
