package engine

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"millrace/vfs"
)

// TestIdleBlocksAreGivenBack: a partition that took much has blocks ahead; a minute later they are given back, and appends that
// come meanwhile wait for it, be it slow or refused.
func TestIdleBlocksAreGivenBack(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{{"slow", nil}, {"refused", syscall.ENOSPC}} {
		t.Run(c.name, func(t *testing.T) {
			mem := vfs.NewMem()
			f := vfs.NewFaulty(mem)
			o := testOptions(f)
			var now atomic.Int64
			now.Store(time.Now().UnixMilli())
			o.WallMs, o.RetentionCheckMs, o.UnsyncedAgeMaxMs = now.Load, 5, 500
			config := *DefaultConfig()
			config.SegmentBytes = 8 << 20
			o.Config = &config
			e, _ := start(t, o)
			p := ensure(t, e, "a", 0)
			// spare is what all files have behind their ends.
			spare := func() (sum int64) {
				list, err := mem.List("/data/a-0")
				if err != nil {
					t.Fatal(err)
				}
				for _, entry := range list {
					if info, err := entry.Info(); err == nil && (strings.HasSuffix(entry.Name(), ".log") || strings.HasSuffix(entry.Name(), ".next")) {
						sum += max(vfs.Allocated(info)-info.Size()-512, 0)
					}
				}
				return sum
			}
			n := 0
			eventually(t, "blocks ahead", func() bool {
				mustAppend(t, p, NeedWritten, mkBatch(strings.Repeat("x", 500_000)))
				n++
				return n > 17 && spare() > 1<<20
			})
			eventually(t, "all is synced", func() bool { b := p.Bounds(); return b.Synced == b.Written })
			var cuts atomic.Int64
			f.Rule(func(call vfs.Call) vfs.Fault {
				if call.Op != vfs.OpTruncate || !strings.HasSuffix(call.Name, ".next") { // the name it was made under
					return vfs.Fault{}
				}
				cuts.Add(1)
				return vfs.Fault{Delay: 20 * time.Millisecond, Err: c.err}
			})
			now.Add(70_000)
			eventually(t, "a cut", func() bool { return cuts.Load() > 0 })
			for range 5 { // some of them while the file is being cut
				mustAppend(t, p, NeedCommitted, mkBatch("y"))
				n++
			}
			if c.err == nil && spare() > 0 {
				t.Fatalf("%d bytes are still allocated", spare())
			}
			if rs := readAll(t, p, ReadUncommitted); len(rs) != n {
				t.Fatalf("%d records, want %d", len(rs), n)
			}
			stop(t, e)
		})
	}
}
