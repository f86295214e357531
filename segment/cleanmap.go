package segment

import (
	"crypto/sha256"
	"encoding/binary"
)

// keyMap remembers the latest offset of each key of the part of a log that is being cleaned. Keys stand in it as 128
// bits of a SHA-256, so that neither chance nor a client that chooses its keys makes two of them the same: the older
// one would be lost. 24 bytes per slot, as in Kafka, open addressing, nothing is ever taken out. Owned by one cleaning.
type keyMap struct {
	slots []keySlot
	used  int
	limit int // keys it may hold
}

type keySlot struct {
	key [16]byte
	// next is the offset + 1; 0 marks a free slot.
	next int64
}

const (
	keySlotBytes  = 24
	keySlotsMin   = 64
	keyBytesMin   = keySlotBytes * keySlotsMin
	keyBytesMax   = 1<<31 - 1 // Kafka's bound per thread
	loadFactorMin = 0.1
	loadFactorMax = 0.95 // probes get long above
)

// newKeyMap makes a map in at most bytes of memory, filled to load at most; records is a bound on what is coming, so
// that a small log takes a small map.
func newKeyMap(bytes int64, load float64, records int64) *keyMap {
	load = min(max(load, loadFactorMin), loadFactorMax)
	n := min(max(bytes, keyBytesMin), keyBytesMax) / keySlotBytes
	if want := int64(float64(records)/load) + keySlotsMin; want < n {
		n = want
	}
	return &keyMap{slots: make([]keySlot, n), limit: int(float64(n) * load)}
}

func keyHash(key []byte) (h [16]byte) {
	sum := sha256.Sum256(key)
	copy(h[:], sum[:])
	return h
}

// slot is where the key is, or where it would be put.
func (m *keyMap) slot(h [16]byte) *keySlot {
	i := binary.LittleEndian.Uint64(h[:]) % uint64(len(m.slots))
	for {
		s := &m.slots[i]
		if s.next == 0 || s.key == h {
			return s
		}
		if i++; i == uint64(len(m.slots)) {
			i = 0
		}
	}
}

// put notes that the key was last seen at offset. False: the map is full and knows nothing of it.
func (m *keyMap) put(key []byte, offset int64) bool {
	h := keyHash(key)
	s := m.slot(h)
	if s.next == 0 {
		if m.used >= m.limit {
			return false
		}
		m.used++
		s.key = h
	}
	s.next = offset + 1
	return true
}

// get is the key's latest offset, -1 if it is not known.
func (m *keyMap) get(key []byte) int64 { return m.slot(keyHash(key)).next - 1 }
