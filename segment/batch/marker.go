package batch

import "encoding/binary"

// Control record types (key of a control record, int16 at byte 2).
const (
	ControlAbort  int16 = 0
	ControlCommit int16 = 1
)

// Marker is the end of one producer's transaction on a partition (KIP-98): a
// control batch of one record.
type Marker struct {
	ProducerID       int64
	ProducerEpoch    int16
	Commit           bool
	CoordinatorEpoch int32
	// Timestamp is in ms.
	Timestamp int64
}

// AppendMarker appends the marker's batch to dst; base offset 0 and no leader
// epoch, both stamped on append.
func AppendMarker(dst []byte, m Marker) []byte {
	var key [4]byte
	var value [6]byte
	if m.Commit {
		binary.BigEndian.PutUint16(key[2:], uint16(ControlCommit))
	}
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	f := Fields{
		LeaderEpoch:   NoLeaderEpoch,
		Attributes:    Transactional | Control,
		BaseTimestamp: m.Timestamp,
		MaxTimestamp:  m.Timestamp,
		ProducerID:    m.ProducerID,
		ProducerEpoch: m.ProducerEpoch,
		BaseSequence:  NoSequence,
		Count:         1,
	}
	start := len(dst)
	dst = AppendHeader(dst, &f)
	dst = AppendRecord(dst, 0, 0, key[:], value[:])
	Seal(dst[start:])
	return dst
}

// ControlType reads the type out of a control record's key: ControlAbort,
// ControlCommit or another value that readers must skip.
func ControlType(key []byte) (int16, bool) {
	if len(key) < 4 || int16(binary.BigEndian.Uint16(key)) < 0 {
		return 0, false
	}
	return int16(binary.BigEndian.Uint16(key[2:])), true
}

// ParseMarker reads the transaction marker in v. ok is false if v is no control
// batch, is malformed, or holds another kind of control record.
func ParseMarker(v View) (m Marker, ok bool) {
	if !v.Attributes().Control() {
		return Marker{}, false
	}
	it := v.Iter()
	var r Record
	if !it.Next(&r) {
		return Marker{}, false
	}
	kind, ok := ControlType(r.Key)
	if !ok || kind != ControlAbort && kind != ControlCommit || len(r.Value) < 6 {
		return Marker{}, false
	}
	return Marker{
		ProducerID:       v.ProducerID(),
		ProducerEpoch:    v.ProducerEpoch(),
		Commit:           kind == ControlCommit,
		CoordinatorEpoch: int32(binary.BigEndian.Uint32(r.Value[2:])),
		Timestamp:        v.TimestampOf(r.TimestampDelta),
	}, true
}
