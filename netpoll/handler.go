package netpoll

import (
	"net/netip"

	"millrace/internal/bufpool"
)

// Handler is the protocol on top of connections. All methods run on the connection's loop, one at a time, never
// nested.
type Handler interface {
	// Opened is called once, before anything is read. An error closes the connection.
	Opened(c *Conn) error

	// FrameLen says from the first bytes of a frame (at least one) how long the whole frame is, prefix included;
	// 0 asks for more bytes. An error closes the connection; nothing has been allocated for the frame by then.
	FrameLen(c *Conn, head []byte) (int, error)

	// Frame hands over one whole frame, prefix included. The handler owns one reference to b and releases it
	// when the bytes are no longer needed.
	Frame(c *Conn, b *bufpool.Buf)

	// Closed is called once, when the connection has ended for whatever reason; err is nil for an orderly end by
	// the peer (io.EOF is not passed). Everything queued has been completed before.
	Closed(c *Conn, err error)
}

// ConnInfo is what is known of a connection.
type ConnInfo struct {
	ID       uint64 // unique in the process
	Remote   netip.AddrPort
	Local    netip.AddrPort
	Listener int // index of the listener it came in by
}
