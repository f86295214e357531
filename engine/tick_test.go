package engine

import (
	"fmt"
	"testing"
	"time"

	"millrace/vfs"
)

// TestFirstLookAtRetentionWaits: log.initial.task.delay.ms counts from the start, then the interval.
func TestFirstLookAtRetentionWaits(t *testing.T) {
	for _, c := range []struct {
		delayMs, checkMs int64
		soon             bool
	}{{5, 3_600_000, true}, {3_600_000, 5, false}} {
		o := testOptions(vfs.NewMem())
		o.InitialTaskDelayMs, o.RetentionCheckMs = c.delayMs, c.checkMs
		cfg := *DefaultConfig()
		cfg.SegmentBytes, cfg.RetentionBytes = 1000, 3000
		o.Config = &cfg
		e, _ := start(t, o)
		p := ensure(t, e, "a", 0)
		shard := p.shard
		first := func() (ns int64) {
			done := make(chan struct{})
			shard.loop.PostFunc(func() { ns = shard.retainedNs; close(done) })
			<-done
			return ns
		}
		if c.soon {
			eventually(t, "a first look", func() bool { return first() != 0 })
			continue
		}
		for i := range 100 {
			mustAppend(t, p, NeedWritten, mkBatch(fmt.Sprint(i)))
		}
		time.Sleep(50 * time.Millisecond)
		if first() != 0 || p.Bounds().LogStart != 0 {
			t.Errorf("retention ran before the delay: log start %d", p.Bounds().LogStart)
		}
	}
}
