package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	// ErrUnknownType: a record of a kind that this package does not know; Kafka skips such records when it loads.
	ErrUnknownType = errors.New("record: unknown type")
	// ErrUnknownVersion: a value of a version that this package does not know.
	ErrUnknownVersion = errors.New("record: unknown version")
	// ErrMalformed: bytes that are no key or value.
	ErrMalformed = errors.New("record: malformed")
)

// Value is what a record says: *Offset, *ClassicGroup, *ConsumerGroup, *PartitionMetadata, *Member, *Target,
// *TargetMember, *Current or *Regex. Values are immutable once they are in a Record.
type Value interface {
	// AppendTo appends the value's bytes.
	AppendTo(dst []byte) []byte
	valueType() Type
}

// Record is one record. A nil Value is a tombstone.
type Record struct {
	Key   Key
	Value Value
}

// Decode reads a record; a nil value is a tombstone. Nothing in the result aliases the input.
func Decode(key, value []byte) (Record, error) {
	k, err := DecodeKey(key)
	if err != nil {
		return Record{}, err
	}
	if k.Type == TypeLegacyOffset {
		k.Type = TypeOffset
	}
	if value == nil {
		return Record{Key: k}, nil
	}
	v, err := DecodeValue(k.Type, value)
	if err != nil {
		return Record{}, err
	}
	return Record{Key: k, Value: v}, nil
}

// DecodeValue reads the value of a record of that type. Bytes behind the fields are an error, unknown tagged fields
// are skipped.
func DecodeValue(t Type, b []byte) (Value, error) {
	r := reader{b: b}
	version := r.int16()
	if r.bad {
		return nil, ErrMalformed
	}
	newest, ok := newestVersion[t]
	if !ok {
		return nil, fmt.Errorf("%w %d", ErrUnknownType, t)
	}
	if version < 0 || version > newest {
		return nil, fmt.Errorf("%w %d of type %d", ErrUnknownVersion, version, t)
	}
	v := decodeAt(&r, t, version)
	if r.bad || len(r.b) != 0 {
		return nil, ErrMalformed
	}
	return v, nil
}

// newestVersion is the newest version of each type's value.
var newestVersion = map[Type]int16{
	TypeLegacyOffset: 4, TypeOffset: 4, TypeClassicGroup: 4, TypeConsumerGroup: 0, TypePartitionMetadata: 0,
	TypeMember: 0, TypeTarget: 0, TypeTargetMember: 0, TypeCurrent: 0, TypeRegex: 0,
}

func decodeAt(r *reader, t Type, version int16) Value {
	switch t {
	case TypeLegacyOffset, TypeOffset:
		return decodeOffset(r, version)
	case TypeClassicGroup:
		return decodeClassicGroup(r, version)
	case TypeConsumerGroup:
		return decodeConsumerGroup(r)
	case TypePartitionMetadata:
		return decodePartitionMetadata(r)
	case TypeMember:
		return decodeMember(r)
	case TypeTarget:
		return decodeTarget(r)
	case TypeTargetMember:
		return decodeTargetMember(r)
	case TypeCurrent:
		return decodeCurrent(r)
	case TypeRegex:
		return decodeRegex(r)
	}
	r.bad = true
	return nil
}

func appendVersion(dst []byte, version int16) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(version))
}
