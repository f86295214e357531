package controller

import "sort"

// chunkMax is the most topics in one chunk of a plist.
const chunkMax = 128

// plist is a persistent list of topics sorted by name, in chunks, so that a change copies one chunk and the list
// of chunks. Immutable but for the holder of the edit that made a part.
type plist struct {
	owner  *edit
	chunks []*chunk
}

// chunk is never empty.
type chunk struct {
	owner *edit
	items []*Topic
}

// find is the chunk that holds name or would, and the place in it.
func (l *plist) find(name string) (c, i int, found bool) {
	c = sort.Search(len(l.chunks), func(k int) bool { return l.chunks[k].items[0].Name > name }) - 1
	if c < 0 {
		return 0, 0, false
	}
	items := l.chunks[c].items
	i = sort.Search(len(items), func(k int) bool { return items[k].Name >= name })
	return c, i, i < len(items) && items[i].Name == name
}

func (l *plist) ownChunk(e *edit, c int) *chunk {
	if l.owner != e {
		l.owner, l.chunks = e, append(make([]*chunk, 0, len(l.chunks)+1), l.chunks...)
	}
	k := l.chunks[c]
	if k.owner != e {
		k = &chunk{owner: e, items: append(make([]*Topic, 0, len(k.items)+1), k.items...)}
		l.chunks[c] = k
	}
	return k
}

// set inserts t or replaces the topic of its name.
func (l *plist) set(e *edit, t *Topic) {
	if len(l.chunks) == 0 {
		*l = plist{owner: e, chunks: []*chunk{{owner: e, items: []*Topic{t}}}}
		return
	}
	c, i, found := l.find(t.Name)
	k := l.ownChunk(e, c)
	if found {
		k.items[i] = t
		return
	}
	k.items = append(k.items, nil)
	copy(k.items[i+1:], k.items[i:])
	k.items[i] = t
	if len(k.items) > chunkMax {
		half := len(k.items) / 2
		right := &chunk{owner: e, items: append([]*Topic(nil), k.items[half:]...)}
		clear(k.items[half:])
		k.items = k.items[:half]
		l.chunks = append(l.chunks, nil)
		copy(l.chunks[c+2:], l.chunks[c+1:])
		l.chunks[c+1] = right
	}
}

// del removes the topic of a name if it is there.
func (l *plist) del(e *edit, name string) {
	if len(l.chunks) == 0 {
		return
	}
	c, i, found := l.find(name)
	if !found {
		return
	}
	k := l.ownChunk(e, c)
	copy(k.items[i:], k.items[i+1:])
	k.items[len(k.items)-1] = nil
	k.items = k.items[:len(k.items)-1]
	if len(k.items) == 0 {
		copy(l.chunks[c:], l.chunks[c+1:])
		l.chunks[len(l.chunks)-1] = nil
		l.chunks = l.chunks[:len(l.chunks)-1]
	}
}

// from calls yield for the topics with names >= name, in order.
func (l *plist) from(name string, yield func(*Topic) bool) {
	if len(l.chunks) == 0 {
		return
	}
	c, i, _ := l.find(name)
	for ; c < len(l.chunks); c, i = c+1, 0 {
		for _, t := range l.chunks[c].items[i:] {
			if !yield(t) {
				return
			}
		}
	}
}
