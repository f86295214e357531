package broker

import "testing"

// TestGroupPartition compares with what Java's String.hashCode gives: negative hashes, the one whose absolute value is
// none, and characters outside of the basic plane, which Java counts as two.
func TestGroupPartition(t *testing.T) {
	for _, c := range []struct {
		id   string
		hash int64 // as Kafka uses it, before the remainder
	}{
		{"", 0},
		{"a", 97},
		{"abc", 96354},
		{"console-consumer-1", 0},          // filled in below: the remainder alone is checked against the definition
		{"polygenelubricants", 0},          // hash is the smallest integer
		{"Gruppe-äöü", 0},                  // two-byte characters
		{"\U0001F600", 31*0xd83d + 0xde00}, // one surrogate pair
		{"x\U0001F600", (31*('x'*31+0xd83d) + 0xde00)}, // behind another
	} {
		want := c.hash
		if want == 0 && c.id != "" && c.id != "polygenelubricants" {
			h := int32(0)
			for _, r := range c.id {
				h = 31*h + r
			}
			want = int64(h)
			if want < 0 {
				want = -want
			}
		}
		for _, n := range []int32{1, 3, 50} {
			if got := GroupPartition(c.id, n); int64(got) != want%int64(n) {
				t.Errorf("%q of %d: %d, want %d", c.id, n, got, want%int64(n))
			}
		}
	}
}
