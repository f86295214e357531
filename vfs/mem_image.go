package vfs

import (
	"math/rand/v2"
	"slices"
)

// sector is the unit that a disk writes whole.
const sector = 512

// Image is what a power cut at this moment could leave: everything synced, and of the rest a part chosen by seed.
// Seed 0 keeps nothing that was not synced, seed 1 everything; others draw. A write may survive sector by sector, in
// any order, the file's size with or without the bytes; creations, renames and removals may or may not have happened,
// each as a whole and not before earlier ones of the same name. The image is a new, independent file system.
func (m *Mem) Image(seed uint64) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	im := imager{rng: rand.New(rand.NewPCG(seed, 0x6d656d)), files: map[*memInode]*memInode{}, dirs: map[*memDir]*memDir{}}
	switch seed {
	case 0:
		im.keep = 0
	case 1:
		im.keep = 1
	default:
		im.keep = []float64{0.1, 0.5, 0.9}[im.rng.IntN(3)]
	}
	return im.build(m)
}

// Clone is what a killed process leaves: everything, synced or not, with the same things still unsynced as far as
// file contents go; names count as durable.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	im := imager{keep: 1, rng: rand.New(rand.NewPCG(1, 1)), files: map[*memInode]*memInode{}, dirs: map[*memDir]*memDir{}, cache: true}
	return im.build(m)
}

// imager draws one image. Owned by the call that made it.
type imager struct {
	rng   *rand.Rand
	keep  float64
	cache bool
	files map[*memInode]*memInode
	dirs  map[*memDir]*memDir
}

func (im *imager) coin() bool {
	return im.keep >= 1 || im.keep > 0 && im.rng.Float64() < im.keep
}

func (im *imager) build(m *Mem) *Mem {
	out := NewMem()
	out.total, out.clock = m.total, m.clock
	// Draw the namespace changes first, oldest first: one that follows a lost one of the same name is lost too.
	type key struct {
		dir  *memDir
		name string
	}
	lost := map[key]bool{}
	extra := map[*memDir][]namePart{}
	for _, o := range m.names {
		ok := im.coin()
		for _, p := range o.parts {
			ok = ok && !lost[key{p.dir, p.name}]
		}
		for _, p := range o.parts {
			if ok {
				extra[p.dir] = append(extra[p.dir], p)
			} else {
				lost[key{p.dir, p.name}] = true
			}
		}
	}
	out.root = im.dir(m.root, extra)
	return out
}

func (im *imager) dir(d *memDir, extra map[*memDir][]namePart) *memDir {
	if got := im.dirs[d]; got != nil {
		return got
	}
	out := newMemDir()
	im.dirs[d] = out
	names := make(map[string]any, len(d.durable))
	for n, node := range d.durable {
		names[n] = node
	}
	for _, p := range extra[d] {
		if p.node == nil {
			delete(names, p.name)
		} else {
			names[p.name] = p.node
		}
	}
	for _, name := range sortedKeys(names) {
		var node any
		switch n := names[name].(type) {
		case *memDir:
			node = im.dir(n, extra)
		case *memInode:
			node = im.inode(n)
		}
		out.cur[name], out.durable[name] = node, node
	}
	return out
}

func (im *imager) inode(ino *memInode) *memInode {
	if got := im.files[ino]; got != nil {
		return got
	}
	out := &memInode{mtime: ino.mtime, ahead: ino.ahead}
	im.files[ino] = out
	if im.cache {
		out.cur = append([]byte(nil), ino.cur...)
		out.durable = append([]byte(nil), ino.durable...)
		out.pending = append([]dataOp(nil), ino.pending...)
		return out
	}
	data := append([]byte(nil), ino.durable...)
	for i := range ino.pending {
		data = im.draw(data, &ino.pending[i])
	}
	out.cur = data
	out.durable = append([]byte(nil), data...)
	return out
}

// draw applies a part of one unsynced change.
func (im *imager) draw(data []byte, o *dataOp) []byte {
	if o.data == nil {
		if im.coin() {
			data = o.apply(data)
		}
		return data
	}
	end := o.off + int64(len(o.data))
	if end > int64(len(data)) && im.coin() {
		data = resize(data, end) // the size got there, whatever becomes of the bytes
	}
	for at := o.off; at < end; {
		next := min((at/sector+1)*sector, end)
		if im.coin() {
			part := dataOp{off: at, data: o.data[at-o.off : next-o.off]}
			data = part.apply(data)
		}
		at = next
	}
	return data
}

func sortedKeys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
