package producer

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"

	"millrace/bench/wire"
)

const (
	produceVersion = 11
	clientID       = "model"
	timeoutMs      = 30000
)

// request is one Produce in flight. Owned by its connection and reused.
type request struct {
	batches []*Batch
	head    []byte // everything but the batches
	cuts    []int  // where in head a batch goes
	iov     []unix.Iovec
	size    int
	sentAt  int64
}

// encode lays a request out as a gather list: fields from head, batches as they are.
func (r *request) encode(topic string, acks int16, correlation int32) {
	b := append(r.head[:0], 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, wire.KeyProduce)
	b = binary.BigEndian.AppendUint16(b, produceVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(correlation))
	b = wire.AppendString(b, clientID, false)
	b = wire.AppendTags(b, true)
	b = append(b, 0) // no transactional id
	b = binary.BigEndian.AppendUint16(b, uint16(acks))
	b = binary.BigEndian.AppendUint32(b, timeoutMs)
	b = wire.AppendArrayLen(b, 1, true)
	b = wire.AppendString(b, topic, true)
	b = wire.AppendArrayLen(b, len(r.batches), true)
	r.cuts = r.cuts[:0]
	r.size = 0
	for _, batch := range r.batches {
		b = binary.BigEndian.AppendUint32(b, uint32(batch.Partition))
		b = wire.AppendArrayLen(b, len(batch.buf), true) // a nullable byte field counts like an array
		r.cuts = append(r.cuts, len(b))
		r.size += len(batch.buf)
		b = wire.AppendTags(b, true) // of the partition, behind its records
	}
	b = wire.AppendTags(wire.AppendTags(b, true), true) // of the topic, of the request
	r.head = b
	r.size += len(b)
	binary.BigEndian.PutUint32(b, uint32(r.size-4))
	r.iov = r.iov[:0]
	from := 0
	for i, cut := range r.cuts {
		r.iov = append(r.iov, vec(b[from:cut]), vec(r.batches[i].buf))
		from = cut
	}
	r.iov = append(r.iov, vec(b[from:]))
}

func vec(b []byte) unix.Iovec {
	v := unix.Iovec{Base: unsafe.SliceData(b)}
	v.SetLen(len(b))
	return v
}

// advance takes n written bytes off the front of a gather list.
func advance(iov []unix.Iovec, n int) []unix.Iovec {
	for n > 0 {
		v := &iov[0]
		if n < int(v.Len) {
			v.Base = (*byte)(unsafe.Add(unsafe.Pointer(v.Base), n))
			v.SetLen(int(v.Len) - n)
			return iov
		}
		n -= int(v.Len)
		iov = iov[1:]
	}
	return iov
}
