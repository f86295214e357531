package controller

import (
	"hash/maphash"
	"math/bits"
)

// edit marks nodes that one builder made and may still write. Once the builder publishes it drops its edit, and
// the nodes are immutable.
type edit struct{ _ byte }

// seed is of the process: hashes never leave it, and the order of a pmap means nothing.
var seed = maphash.MakeSeed()

// pmap is a persistent hash trie, immutable but for the holder of the edit that made a node. Lookups cost at
// most a handful of steps whatever the size; a change copies one path (about 32 pointers per level), and nothing
// if the same edit has already copied it, so that n changes in one batch cost O(n).
type pmap[K comparable, V any] struct {
	root *pnode[K, V]
	n    int
}

// pnode is a branch (kids, one for each set bit of the bitmap) or a leaf (entries, one but for equal hashes).
type pnode[K comparable, V any] struct {
	owner   *edit
	bitmap  uint32
	kids    []*pnode[K, V]
	hash    uint64
	entries []pentry[K, V]
}

type pentry[K comparable, V any] struct {
	key K
	val V
}

const (
	trieBits = 5
	trieEnd  = 60 // below it all bits are used up; leaves hold what collides
)

func (m *pmap[K, V]) len() int { return m.n }

func (m *pmap[K, V]) get(key K) (val V, ok bool) {
	if m.root == nil {
		return val, false
	}
	h := maphash.Comparable(seed, key)
	n := m.root
	for shift := 0; n.kids != nil; shift += trieBits {
		bit := uint32(1) << (h >> shift & 31)
		if n.bitmap&bit == 0 {
			return val, false
		}
		n = n.kids[bits.OnesCount32(n.bitmap&(bit-1))]
	}
	for i := range n.entries {
		if n.entries[i].key == key {
			return n.entries[i].val, true
		}
	}
	return val, false
}

// set stores val under key, writing in place what e owns.
func (m *pmap[K, V]) set(e *edit, key K, val V) {
	h := maphash.Comparable(seed, key)
	if m.root == nil {
		m.root, m.n = leafOf(e, h, key, val), 1
		return
	}
	root, added := m.root.set(e, 0, h, key, val)
	m.root = root
	if added {
		m.n++
	}
}

// del removes key if it is there.
func (m *pmap[K, V]) del(e *edit, key K) {
	if m.root == nil {
		return
	}
	root, removed := m.root.del(e, 0, maphash.Comparable(seed, key), key)
	m.root = root
	if removed {
		m.n--
	}
}

// all calls yield for every entry, in no order.
func (m *pmap[K, V]) all(yield func(K, V) bool) {
	if m.root != nil {
		m.root.all(yield)
	}
}

func (n *pnode[K, V]) all(yield func(K, V) bool) bool {
	for i := range n.entries {
		if !yield(n.entries[i].key, n.entries[i].val) {
			return false
		}
	}
	for _, k := range n.kids {
		if !k.all(yield) {
			return false
		}
	}
	return true
}

func leafOf[K comparable, V any](e *edit, h uint64, key K, val V) *pnode[K, V] {
	return &pnode[K, V]{owner: e, hash: h, entries: []pentry[K, V]{{key, val}}}
}

// own is n itself if e may write it, else a copy that e may write.
func (n *pnode[K, V]) own(e *edit) *pnode[K, V] {
	if n.owner == e {
		return n
	}
	c := &pnode[K, V]{owner: e, bitmap: n.bitmap, hash: n.hash}
	if n.kids != nil {
		c.kids = append(make([]*pnode[K, V], 0, len(n.kids)+1), n.kids...)
	}
	if n.entries != nil {
		c.entries = append([]pentry[K, V](nil), n.entries...)
	}
	return c
}

func (n *pnode[K, V]) set(e *edit, shift int, h uint64, key K, val V) (*pnode[K, V], bool) {
	if n.kids == nil {
		return n.setLeaf(e, shift, h, key, val)
	}
	c := n.own(e)
	bit := uint32(1) << (h >> shift & 31)
	i := bits.OnesCount32(c.bitmap & (bit - 1))
	if c.bitmap&bit == 0 {
		c.bitmap |= bit
		c.kids = append(c.kids, nil)
		copy(c.kids[i+1:], c.kids[i:])
		c.kids[i] = leafOf(e, h, key, val)
		return c, true
	}
	kid, added := c.kids[i].set(e, shift+trieBits, h, key, val)
	c.kids[i] = kid
	return c, added
}

func (n *pnode[K, V]) setLeaf(e *edit, shift int, h uint64, key K, val V) (*pnode[K, V], bool) {
	if n.hash == h || shift >= trieEnd {
		c := n.own(e)
		for i := range c.entries {
			if c.entries[i].key == key {
				c.entries[i].val = val
				return c, false
			}
		}
		c.entries = append(c.entries, pentry[K, V]{key, val})
		return c, true
	}
	// Two hashes share this place: put a branch above the leaf and go on in it.
	branch := &pnode[K, V]{owner: e, bitmap: uint32(1) << (n.hash >> shift & 31), kids: []*pnode[K, V]{n}}
	return branch.set(e, shift, h, key, val)
}

func (n *pnode[K, V]) del(e *edit, shift int, h uint64, key K) (*pnode[K, V], bool) {
	if n.kids == nil {
		for i := range n.entries {
			if n.entries[i].key != key {
				continue
			}
			if len(n.entries) == 1 {
				return nil, true
			}
			c := n.own(e)
			c.entries = append(c.entries[:i], c.entries[i+1:]...)
			return c, true
		}
		return n, false
	}
	bit := uint32(1) << (h >> shift & 31)
	if n.bitmap&bit == 0 {
		return n, false
	}
	i := bits.OnesCount32(n.bitmap & (bit - 1))
	kid, removed := n.kids[i].del(e, shift+trieBits, h, key)
	if !removed {
		return n, false
	}
	if kid == nil && len(n.kids) == 1 {
		return nil, true
	}
	if kid == nil && len(n.kids) == 2 && n.kids[1-i].kids == nil {
		return n.kids[1-i], true // a leaf needs no branch of its own
	}
	if kid != nil && len(n.kids) == 1 && kid.kids == nil {
		return kid, true
	}
	c := n.own(e)
	if kid != nil {
		c.kids[i] = kid
		return c, true
	}
	c.bitmap &^= bit
	copy(c.kids[i:], c.kids[i+1:])
	c.kids[len(c.kids)-1] = nil
	c.kids = c.kids[:len(c.kids)-1]
	return c, true
}
