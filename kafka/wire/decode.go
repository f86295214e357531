package wire

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrElements: the body is well formed so far, but holds more array elements
// than the broker takes. The connection must be closed.
var ErrElements = errors.New("wire: too many elements in a request")

// MaxElements bounds the array elements and unknown tags of one request that
// kmsg decodes; with about 100 bytes for each it bounds what a decoded request
// takes. Produce and Fetch are not bound by it: they decode nothing.
const MaxElements = 1 << 20

// Check walks the body of a request of api at version and answers ErrMalformed
// or ErrElements if it must not be decoded. It allocates nothing.
func Check(api *API, version int16, body []byte) error {
	w := walker{r: reader{b: body}, version: version, flexible: api.IsFlexible(version), left: MaxElements}
	w.fields(schemas[api.Key])
	switch {
	case w.left < 0:
		return ErrElements
	case w.r.bad:
		return ErrMalformed
	}
	return nil
}

// DecodeRequest reads body into req, whose kind must fit it, at version. It
// refuses what Kafka refuses before anything is allocated: cut bodies, counts
// that the bytes cannot hold, nulls where none may be, known tags at a version
// without them. Bytes behind the body are ignored. Strings are copied; byte
// fields alias body.
//
// Errors: ErrMalformed and ErrElements; the connection must be closed.
func DecodeRequest(req kmsg.Request, body []byte, version int16) error {
	api := Lookup(req.Key())
	if api == nil {
		return ErrUnknownKey
	}
	if err := Check(api, version, body); err != nil {
		return err
	}
	req.SetVersion(version)
	if req.ReadFrom(body) != nil {
		return ErrMalformed
	}
	return nil
}

// AppendReply appends the whole frame that answers the request of h with resp:
// size, header and body.
func AppendReply(dst []byte, h *Header, resp kmsg.Response) []byte {
	start := len(dst)
	dst = BeginFrame(dst, h.API, h.Version, h.CorrelationID)
	resp.SetVersion(h.Version)
	dst = resp.AppendTo(dst)
	EndFrame(dst, start, 0)
	return dst
}
