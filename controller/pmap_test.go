package controller

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// clash is a key whose hash we choose, to reach branches and leaves that random keys never do: pmap hashes keys
// itself, so the nodes are driven directly.
func TestTrieWithChosenHashes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	hashes := []uint64{0, 1, 32, 1 << 5, 1 << 59, 1 << 60, 1 << 63, ^uint64(0), 0x1f, 0x3ff}
	hash := func(k int) uint64 { return hashes[k%len(hashes)] }
	var root *pnode[int, int]
	type frozen struct {
		root *pnode[int, int]
		want map[int]int
	}
	want, e := map[int]int{}, new(edit)
	var old []frozen
	for i := range 4000 {
		k := rng.IntN(40)
		_, had := want[k]
		if rng.IntN(2) == 0 {
			if root == nil {
				root = leafOf(e, hash(k), k, i)
			} else {
				var added bool
				if root, added = root.set(e, 0, hash(k), k, i); added == had {
					t.Fatalf("step %d: added %t, was there %t", i, added, had)
				}
			}
			want[k] = i
		} else if root != nil {
			var removed bool
			if root, removed = root.del(e, 0, hash(k), k); removed != had {
				t.Fatalf("step %d: removed %t, was there %t", i, removed, had)
			}
			delete(want, k)
		}
		sameEntries(t, root, want, i)
		if rng.IntN(20) == 0 {
			copied := map[int]int{}
			for k, v := range want {
				copied[k] = v
			}
			old, e = append(old, frozen{root, copied}), new(edit)
		}
	}
	for _, f := range old {
		sameEntries(t, f.root, f.want, -1)
	}
}

func sameEntries(t *testing.T, root *pnode[int, int], want map[int]int, step int) {
	t.Helper()
	n := 0
	if root != nil {
		root.all(func(k, v int) bool {
			n++
			if w, ok := want[k]; !ok || w != v {
				t.Fatalf("step %d: %d is %d, want %d (%t)", step, k, v, w, ok)
			}
			return true
		})
	}
	if n != len(want) {
		t.Fatalf("step %d: %d entries, want %d", step, n, len(want))
	}
}

func TestSortedListKeepsItsOldSelf(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	type frozen struct {
		list plist
		want []string
	}
	var l plist
	var old []frozen
	names, e := map[string]bool{}, new(edit)
	read := func(l *plist, from string) (out []string) {
		l.from(from, func(t *Topic) bool { out = append(out, t.Name); return true })
		return out
	}
	for i := range 6000 {
		name := fmt.Sprintf("%04d", rng.IntN(1500))
		if rng.IntN(3) > 0 {
			l.set(e, &Topic{Name: name})
			names[name] = true
		} else {
			l.del(e, name)
			delete(names, name)
		}
		if rng.IntN(100) == 0 || i == 5999 {
			got := read(&l, "")
			if len(got) != len(names) {
				t.Fatalf("step %d: %d names, want %d", i, len(got), len(names))
			}
			for j, n := range got {
				if !names[n] || j > 0 && got[j-1] >= n {
					t.Fatalf("step %d: %s out of place", i, n)
				}
			}
			from := fmt.Sprintf("%04d", rng.IntN(1500))
			rest := read(&l, from)
			for j := range got {
				if got[j] >= from {
					got2 := got[j:]
					if fmt.Sprint(got2) != fmt.Sprint(rest) {
						t.Fatalf("step %d: from %s: %d names, want %d", i, from, len(rest), len(got2))
					}
					break
				}
			}
			old, e = append(old, frozen{l, got}), new(edit)
		}
	}
	for _, f := range old {
		if got := read(&f.list, ""); fmt.Sprint(got) != fmt.Sprint(f.want) {
			t.Fatal("an old list has changed")
		}
	}
}
