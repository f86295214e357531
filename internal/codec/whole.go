package codec

import "sync"

// Inputs that can only be unpacked at once (zstd frames with huge windows,
// snappy blocks) are refused beyond wholeMax. No client writes such.
const wholeMax = 64 << 20

// wholeFree is what any number of Readers may hold of such an input at a time;
// of those that need more there is one in the process, whatever is sent to it.
const wholeFree = 8 << 20

var wholeSlot sync.Mutex

// slot is the right to hold more than wholeFree bytes. Owned by its source.
type slot struct{ held bool }

// take waits for the right if size asks for it. What holds it never waits for
// another Reader.
func (s *slot) take(size int) {
	if size > wholeFree && !s.held {
		wholeSlot.Lock()
		s.held = true
	}
}

func (s *slot) giveBack() {
	if s.held {
		s.held = false
		wholeSlot.Unlock()
	}
}
