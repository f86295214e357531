package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// Side files of ours end in an xxhash64 of all that comes before it: 8 bytes big endian in binary files, a line of
// 16 hex digits in text files.

func appendDigest(b []byte) []byte { return binary.BigEndian.AppendUint64(b, xxhash.Sum64(b)) }

// cutDigest checks and takes off the digest.
func cutDigest(b []byte) (body []byte, ok bool) {
	if len(b) < 8 {
		return nil, false
	}
	body = b[:len(b)-8]
	return body, binary.BigEndian.Uint64(b[len(body):]) == xxhash.Sum64(body)
}

func appendDigestLine(b []byte) []byte { return fmt.Appendf(b, "%016x\n", xxhash.Sum64(b)) }

func cutDigestLine(b []byte) (body []byte, ok bool) {
	const n = 17
	if len(b) < n {
		return nil, false
	}
	body = b[:len(b)-n]
	return body, bytes.Equal(b[len(body):], fmt.Appendf(nil, "%016x\n", xxhash.Sum64(body)))
}
