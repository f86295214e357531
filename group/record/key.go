package record

import (
	"encoding/binary"
	"fmt"
)

// Type is the number that a key begins with.
type Type int16

// The types of records.
const (
	TypeLegacyOffset      Type = 0 // Kafka 0.8.2; read only
	TypeOffset            Type = 1
	TypeClassicGroup      Type = 2
	TypeConsumerGroup     Type = 3
	TypePartitionMetadata Type = 4 // read only
	TypeMember            Type = 5
	TypeTarget            Type = 6
	TypeTargetMember      Type = 7
	TypeCurrent           Type = 8
	TypeRegex             Type = 16
)

// Key names what a record is about. Fields that its type does not have are zero, so that keys compare with ==.
type Key struct {
	Type      Type
	Group     string
	Topic     string // TypeOffset
	Partition int32  // TypeOffset
	Member    string // TypeMember, TypeTargetMember, TypeCurrent
	Regex     string // TypeRegex
}

// AppendTo appends the key's bytes.
func (k *Key) AppendTo(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(k.Type))
	dst = appendString(dst, k.Group)
	switch k.Type {
	case TypeLegacyOffset, TypeOffset:
		dst = appendString(dst, k.Topic)
		dst = binary.BigEndian.AppendUint32(dst, uint32(k.Partition))
	case TypeMember, TypeTargetMember, TypeCurrent:
		dst = appendString(dst, k.Member)
	case TypeRegex:
		dst = appendString(dst, k.Regex)
	}
	return dst
}

// DecodeKey reads a key. ErrUnknownType for types of share and streams groups and of the future.
func DecodeKey(b []byte) (Key, error) {
	r := reader{b: b}
	k := Key{Type: Type(r.int16())}
	switch k.Type {
	case TypeLegacyOffset, TypeOffset:
		k.Group = r.string()
		k.Topic = r.string()
		k.Partition = r.int32()
	case TypeClassicGroup, TypeConsumerGroup, TypePartitionMetadata, TypeTarget:
		k.Group = r.string()
	case TypeMember, TypeTargetMember, TypeCurrent:
		k.Group = r.string()
		k.Member = r.string()
	case TypeRegex:
		k.Group = r.string()
		k.Regex = r.string()
	default:
		if r.bad {
			return Key{}, ErrMalformed
		}
		return Key{}, fmt.Errorf("%w %d", ErrUnknownType, k.Type)
	}
	if r.bad || len(r.b) != 0 {
		return Key{}, ErrMalformed
	}
	return k, nil
}
