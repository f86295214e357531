package producer

// pool is buffer.memory: buffers of batch.size are kept for reuse, others are made when needed, and the sum is bounded. Owned by
// its loop.
type pool struct {
	poolable int
	total    int64
	unpooled int64    // bytes that are neither in use nor in free
	free     [][]byte // each of poolable bytes
	waiting  bool     // somebody could not get memory and has not got it since
}

func newPool(total int64, poolable int) *pool {
	return &pool{poolable: poolable, total: total, unpooled: total}
}

// available is what can be handed out, bytes.
func (p *pool) available() int64 { return p.unpooled + int64(len(p.free))*int64(p.poolable) }

// allocate returns a buffer of n bytes with length 0, or nil: memory is exhausted.
func (p *pool) allocate(n int) []byte {
	if n == p.poolable && len(p.free) > 0 {
		b := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.waiting = false
		return b[:0]
	}
	if p.available() < int64(n) {
		p.waiting = true
		return nil
	}
	for p.unpooled < int64(n) { // give up kept buffers for one of another size
		p.free = p.free[:len(p.free)-1]
		p.unpooled += int64(p.poolable)
	}
	p.unpooled -= int64(n)
	p.waiting = false
	return make([]byte, 0, n)
}

// release takes a buffer back.
func (p *pool) release(b []byte) {
	if cap(b) == p.poolable {
		p.free = append(p.free, b)
	} else {
		p.unpooled += int64(cap(b))
	}
}
