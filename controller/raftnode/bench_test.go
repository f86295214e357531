package raftnode

import (
	"testing"

	"millrace/controller"
	"millrace/vfs"
)

// BenchmarkFirstStart is what founding costs a broker on this disk: open to both commands answered.
func BenchmarkFirstStart(b *testing.B) {
	for range b.N {
		benchStart(b, b.TempDir())
	}
}

// BenchmarkRestart is a later start of a node with 1,000 topics.
func BenchmarkRestart(b *testing.B) {
	dir := b.TempDir()
	benchStart(b, dir, createMany("t", 1000))
	b.ResetTimer()
	for range b.N {
		benchStart(b, dir)
	}
}

func benchStart(b *testing.B, dir string, bodies ...controller.Body) {
	w := newWorld(b, vfs.OS{})
	w.opts.Dir = dir
	if err := w.open(); err != nil {
		b.Fatal(err)
	}
	last := make(chan struct{})
	for _, body := range bodies {
		w.r.Propose(body, func(controller.Result) {})
	}
	w.r.Propose(&controller.AllocateProducerIDs{Count: 1}, func(controller.Result) { close(last) })
	w.r.Start()
	<-last
	if err := w.r.Stop(); err != nil {
		b.Fatal(err)
	}
}
