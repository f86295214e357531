package kafka

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/valyala/bytebufferpool"

	"millrace/kafka/wire"
	"millrace/netpoll"
)

var replyPool bytebufferpool.Pool

// pooled releases a ByteBuffer as a netpoll.Releaser.
type pooled bytebufferpool.ByteBuffer

// Release implements netpoll.Releaser.
func (p *pooled) Release() { replyPool.Put((*bytebufferpool.ByteBuffer)(p)) }

// respond answers with a message of kmsg, encoded at the request's version. It runs on the connection's loop.
func (r *request) respond(resp kmsg.Response) {
	bb := replyPool.Get()
	b := wire.BeginFrame(bb.B[:0], r.hdr.API, r.hdr.Version, r.hdr.CorrelationID)
	resp.SetVersion(r.hdr.Version)
	b = resp.AppendTo(b)
	r.respondBytes(bb, b)
}

// respondBytes answers with b, a frame that begins with room for its size and stands in bb's storage (or grew out
// of it).
func (r *request) respondBytes(bb *bytebufferpool.ByteBuffer, b []byte) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-wire.FrameSize))
	bb.B = b
	out := r.conn.nc.Loop().NewOut()
	out.Segs = append(out.Segs, netpoll.Seg{Mem: b, Ref: (*pooled)(bb)})
	r.finish(out)
}

// respondLater answers from any goroutine.
func (r *request) respondLater(resp kmsg.Response) {
	r.conn.ls.loop.PostFunc(func() { r.respond(resp) })
}
