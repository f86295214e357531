package wire

import (
	"encoding/binary"
	"errors"
)

// What can be wrong with a request's header, besides ErrMalformed. Kafka closes
// the connection in each case.
var (
	// ErrUnknownKey: no such API on a client listener.
	ErrUnknownKey = errors.New("wire: unknown api key")
	// ErrVersion: a known API at a version outside its range.
	ErrVersion = errors.New("wire: unsupported version")
)

// FrameSize is the length of the size in front of a frame, in bytes.
const FrameSize = 4

// Header is a request's header over the frame's bytes.
type Header struct {
	// API is the entry of the version table; never nil without an error.
	API           *API
	Version       int16
	CorrelationID int32
	// ClientID is nil when null.
	ClientID []byte
	// Body is what follows the header.
	Body []byte
	// Flexible says whether body and answer use the flexible forms.
	Flexible bool
	// Refused is set for ApiVersions at a version outside its range: the body
	// must not be read, the answer is code 35 in the layout of version 0, and
	// the connection goes on.
	Refused bool
}

// ParseHeader reads the header of a frame (without its size).
//
// Errors: ErrMalformed, ErrUnknownKey, ErrVersion; the connection must be
// closed. On ErrVersion API, Version and CorrelationID are set (for the log).
func ParseHeader(frame []byte) (h Header, err error) {
	r := reader{b: frame}
	key := r.i16()
	h.Version = r.i16()
	h.CorrelationID = r.i32()
	if r.bad {
		return h, ErrMalformed
	}
	h.API = Lookup(key)
	if h.API == nil {
		return h, ErrUnknownKey
	}
	if !h.API.Accepts(h.Version) {
		if key != KeyApiVersions {
			return h, ErrVersion
		}
		h.Refused = true
		return h, nil
	}
	h.Flexible = h.API.IsFlexible(h.Version)
	// The client id is never compact, not even in header version 2.
	h.ClientID = r.nullableString(false)
	if h.Flexible {
		r.skipTags()
	}
	if r.bad {
		return h, ErrMalformed
	}
	h.Body = r.b
	return h, nil
}

// AppendResponseHeader appends the header of the answer to API key at version:
// the correlation id, and an empty tag section where the answer is flexible.
// ApiVersions never has the latter (KIP-511).
func AppendResponseHeader(dst []byte, api *API, version int16, correlationID int32) []byte {
	dst = appendI32(dst, correlationID)
	if api.IsFlexible(version) && api.Key != KeyApiVersions {
		dst = append(dst, 0)
	}
	return dst
}

// BeginFrame appends room for the frame's size and the response header. Give
// the length of dst before the call to EndFrame.
func BeginFrame(dst []byte, api *API, version int16, correlationID int32) []byte {
	return AppendResponseHeader(append(dst, 0, 0, 0, 0), api, version, correlationID)
}

// EndFrame fills in the size of the frame that starts at start and goes to the
// end of dst, plus extra bytes that are sent from elsewhere.
func EndFrame(dst []byte, start, extra int) {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-FrameSize+extra))
}
