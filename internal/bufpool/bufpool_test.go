package bufpool

import (
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
)

func TestClasses(t *testing.T) {
	last := int64(0)
	for c := range classes {
		size := classBytes(c)
		if size <= last {
			t.Fatalf("class %d is not larger than the one before", c)
		}
		for _, n := range []int64{last + 1, size - 1, size} {
			if got, s := classOf(int(n)); n > last && (got != c || s != size) {
				t.Errorf("%d bytes: class %d of %d, not %d of %d", n, got, s, c, size)
			}
		}
		last = size
	}
	if c, size := classOf(int(last) + 1); c != -1 || size <= last || size%bigRound != 0 {
		t.Errorf("above the classes: %d of %d", c, size)
	}
	if c, _ := classOf(0); c != 0 {
		t.Errorf("an empty buffer is of class %d", c)
	}
}

func TestBudget(t *testing.T) {
	p := New(1 << 20)
	a := p.Get(600 << 10)
	if a == nil || p.Get(600<<10) != nil {
		t.Fatal("the budget does not hold")
	}
	f := p.GetForce(16 << 10)
	if p.Used() < 616<<10 {
		t.Errorf("%d bytes used", p.Used())
	}
	a.Release()
	b := p.Get(1 << 20)
	if b == nil {
		t.Fatal("a forced buffer counts against the budget")
	}
	b.Release()
	big := p.Get(50 << 20)
	if big == nil {
		t.Fatal("a buffer larger than the budget cannot be had at all")
	}
	if p.Get(1) != nil {
		t.Error("a buffer beside one that is larger than the budget")
	}
	big.Release()
	f.Release()
	if p.Used() != 0 {
		t.Errorf("%d bytes used", p.Used())
	}
	if n := New(0).Get(200 << 20); n == nil {
		t.Error("no budget means no bound")
	} else {
		n.Release()
	}
}

func TestReuseAndTrim(t *testing.T) {
	p := New(0)
	a := p.Get(100 << 10)
	mem := &a.Full()[0]
	a.Release()
	if b := p.Get(100 << 10); &b.Full()[0] != mem {
		t.Error("the last freed buffer is not the first reused")
	} else {
		b.Release()
	}
	var bs []*Buf
	for range 20 {
		bs = append(bs, p.Get(200<<10))
	}
	for _, b := range bs {
		b.Release()
	}
	idle := p.Idle()
	p.Trim() // what was needed since the beginning stays
	if more := p.Trim(); more || p.Idle() >= idle/10 {
		t.Errorf("%d of %d bytes lie idle after two trims (more: %v)", p.Idle(), idle, more)
	}
	// Small ones are all apart from each other.
	seen := map[*byte]bool{}
	for i := range 3000 {
		b := p.Get(1 + i%3000)
		for j := range b.Full() {
			b.Full()[j] = byte(i)
		}
		if seen[&b.Full()[0]] {
			t.Fatal("two buffers share memory")
		}
		seen[&b.Full()[0]] = true
		bs = append(bs, b)
	}
	for i, b := range bs[20:] {
		for _, c := range b.Full() {
			if c != byte(i) {
				t.Fatal("two buffers overlap")
			}
		}
		b.Release()
	}
	// Small ones go as well, but for slabs that are in use.
	keep := p.Get(600)
	for p.Trim() {
	}
	if n := p.Idle(); n > slabBytes {
		t.Errorf("%d bytes lie idle after all trims", n)
	}
	for i := range keep.Full() {
		keep.Full()[i] = 1
	}
	keep.Release()
	for p.Trim() {
	}
	if n := p.Idle(); n != 0 {
		t.Errorf("%d bytes lie idle though none are in use", n)
	}
	p.Get(1000).Release()
}

// TestTrimRandom trims at random moments under random use: contents stay, memory returns.
func TestTrimRandom(t *testing.T) {
	p := New(32 << 20)
	rnd := rand.New(rand.NewSource(5))
	var held []*Buf
	for i := range 30000 {
		switch k := rnd.Intn(100); {
		case k == 0:
			p.Trim()
		case k < 50 && len(held) < 400:
			n := 1 + rnd.Intn(1<<uint(rnd.Intn(18)))
			if b := p.Get(n); b != nil {
				b.B[0], b.B[n-1] = byte(n), byte(n)
				held = append(held, b)
			}
		case len(held) > 0:
			j := rnd.Intn(len(held))
			b := held[j]
			if n := len(b.B); b.B[0] != byte(n) || b.B[n-1] != byte(n) {
				t.Fatalf("step %d: a buffer lost its content", i)
			}
			b.Release()
			held[j] = held[len(held)-1]
			held = held[:len(held)-1]
		}
	}
	for _, b := range held {
		b.Release()
	}
	for p.Trim() {
	}
	if p.Used() != 0 || p.Idle() != 0 {
		t.Errorf("%d bytes in use, %d idle", p.Used(), p.Idle())
	}
}

func TestMisuse(t *testing.T) {
	p := New(0)
	panics := func(name string, fn func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s is not noticed", name)
			}
		}()
		fn()
	}
	b := p.Get(10)
	b.Release()
	panics("a second release", b.Release)
	b = p.Get(10)
	b.Release()
	panics("a retain after the release", b.Retain)
}

// TestWaiters: goroutines that wait for room by OnFree all get it, whatever releases.
func TestWaiters(t *testing.T) {
	p := New(64 << 10)
	wake := make(chan struct{}, 1)
	p.OnFree(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	var held atomic.Int64
	var wg sync.WaitGroup
	work := make(chan *Buf, 100)
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for b := range work {
				held.Add(-1)
				b.Release()
			}
		}()
	}
	rnd := rand.New(rand.NewSource(1))
	for range 20000 {
		n := 1 + rnd.Intn(30<<10)
		b := p.Get(n)
		for b == nil {
			p.WantFree()
			if b = p.Get(n); b == nil {
				<-wake
				b = p.Get(n)
			}
		}
		held.Add(1)
		work <- b
	}
	close(work)
	wg.Wait()
	if p.Used() != 0 {
		t.Errorf("%d bytes used", p.Used())
	}
}

func TestNoAllocs(t *testing.T) {
	p := New(1 << 30)
	p.Get(100).Release()
	p.Get(1 << 20).Release()
	if n := testing.AllocsPerRun(100, func() {
		a, b := p.Get(100), p.Get(1<<20)
		a.Retain()
		a.Release()
		a.Release()
		b.Release()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
