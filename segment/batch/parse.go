package batch

import (
	"encoding/binary"
	"errors"
)

// What can be wrong with the bytes of a batch, in the order of the checks.
var (
	// ErrShort: fewer bytes are left than a batch header has.
	ErrShort = errors.New("batch: fewer bytes than a batch header")
	// ErrLength: the length field is below MinLength.
	ErrLength = errors.New("batch: illegal length")
	// ErrTruncated: the batch is longer than the bytes that are left.
	ErrTruncated = errors.New("batch: cut off")
	// ErrMagic: the format is not 2.
	ErrMagic = errors.New("batch: unsupported magic")
	// ErrChecksum: the CRC does not fit.
	ErrChecksum = errors.New("batch: checksum mismatch")
)

// Peek cuts the first batch off b by its length field and checks length and
// magic, not the CRC. rest is what follows. On error the view is nil and rest
// is b.
func Peek(b []byte) (v View, rest []byte, err error) {
	if len(b) < HeaderSize {
		return nil, b, ErrShort
	}
	length := int32(binary.BigEndian.Uint32(b[offLength:]))
	if length < MinLength {
		return nil, b, ErrLength
	}
	size := int64(length) + Overhead
	if size > int64(len(b)) {
		return nil, b, ErrTruncated
	}
	if b[offMagic] != Magic {
		return nil, b, ErrMagic
	}
	return View(b[:size:size]), b[size:], nil
}

// Parse is Peek and the check of the CRC.
func Parse(b []byte) (v View, rest []byte, err error) {
	v, rest, err = Peek(b)
	if err != nil {
		return nil, b, err
	}
	if v.ComputeCRC() != v.CRC() {
		return nil, b, ErrChecksum
	}
	return v, rest, nil
}

// PeekSize reads the size in bytes of the batch that starts at b from its first
// 12 bytes. The batch itself need not be there.
//
// Errors: ErrShort below 12 bytes, ErrLength.
func PeekSize(b []byte) (int, error) {
	if len(b) < Overhead {
		return 0, ErrShort
	}
	length := int32(binary.BigEndian.Uint32(b[offLength:]))
	if length < MinLength {
		return 0, ErrLength
	}
	return int(length) + Overhead, nil
}
