package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/controller"
	"millrace/kafka/wire"
)

// initProducerID answers InitProducerId, versions 0 to 5, for idempotent producers. A transactional id is refused with
// UNSUPPORTED_VERSION while transactions are not built (docs/adr/0004-what-is-advertised.md).
func (f *Frontend) initProducerID(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.InitProducerIDRequest)
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if (req.ProducerID == -1) != (req.ProducerEpoch == -1) {
		// Both are those of a producer that goes on, or neither (KIP-360).
		resp.ErrorCode = int16(wire.InvalidRequest)
		return resp
	}
	if req.TransactionalID != nil {
		resp.ErrorCode = int16(wire.UnsupportedVersion)
		if *req.TransactionalID == "" {
			resp.ErrorCode = int16(wire.InvalidRequest)
		}
		return resp
	}
	f.node.NewProducerID(func(id int64, code controller.Code) {
		if code != controller.CodeNone {
			resp.ErrorCode = int16(wire.CoordinatorNotAvailable)
		} else {
			resp.ProducerID, resp.ProducerEpoch = id, 0
		}
		r.respondLater(resp)
	})
	return nil
}
