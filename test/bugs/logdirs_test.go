package bugs

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestDescribeLogDirs (B51): every version lists each partition with the size of its files, by name and for all, and not after deletion.
func TestDescribeLogDirs(t *testing.T) {
	c := dial(t)
	name := harness.Name("b51")
	harness.CreateTopic(t, target.Addr, name, 2)
	batch := one(now(), "some text")
	harness.MustProduce(t, c, name, 1, batch)
	deleted := false
	ask := func(version int16, named bool) (sizes map[int32]int64, total, usable int64) {
		req := kmsg.NewPtrDescribeLogDirsRequest()
		req.Version = version
		if named {
			rt := kmsg.NewDescribeLogDirsRequestTopic()
			rt.Topic, rt.Partitions = name, []int32{0, 1}
			req.Topics = append(req.Topics, rt)
		}
		sizes = map[int32]int64{}
		resp := do[*kmsg.DescribeLogDirsResponse](t, c, req)
		if resp.ErrorCode != 0 || len(resp.Dirs) == 0 {
			t.Fatalf("v%d: error %d, %d dirs", version, resp.ErrorCode, len(resp.Dirs))
		}
		for _, d := range resp.Dirs {
			if d.ErrorCode != 0 {
				t.Errorf("v%d: dir %s: error %d", version, d.Dir, d.ErrorCode)
			}
			total, usable = d.TotalBytes, d.UsableBytes
			for _, rt := range d.Topics {
				for _, p := range rt.Partitions {
					if rt.Topic == name {
						sizes[p.Partition] = p.Size
						if !deleted && (p.OffsetLag != 0 || p.IsFuture) {
							t.Errorf("v%d: partition %d: lag %d, future %v", version, p.Partition, p.OffsetLag, p.IsFuture)
						}
					}
				}
			}
		}
		return sizes, total, usable
	}
	for version := int16(1); version <= 4; version++ {
		for _, named := range []bool{true, false} {
			sizes, total, usable := ask(version, named)
			if len(sizes) != 2 || sizes[0] != 0 || sizes[1] != int64(len(batch)) {
				t.Errorf("v%d: sizes %v, want 0 and %d", version, sizes, len(batch))
			}
			if version >= 4 && (total <= 0 || usable <= 0 || usable > total) {
				t.Errorf("v%d: %d bytes in all, %d usable", version, total, usable)
			}
		}
	}
	harness.DeleteTopic(t, target.Addr, name)
	deleted = true
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		sizes, _, _ := ask(4, true)
		if len(sizes) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("deleted topic still listed: %v", sizes)
		}
	}
}
