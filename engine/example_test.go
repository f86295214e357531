package engine_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"millrace/engine"
	"millrace/segment/batch"
)

// A program that keeps a durable log of its own, without any broker.
func Example() {
	dir, _ := os.MkdirTemp("", "engine")
	defer os.RemoveAll(dir)
	ctx := context.Background()

	e, err := engine.Open(engine.Options{Dirs: []string{dir}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close(ctx)
	if _, err := e.Load(ctx); err != nil {
		fmt.Println(err)
		return
	}
	p, _ := e.Ensure(ctx, "greetings", 0)

	var b batch.Builder
	b.Reset(nil, 0, 0)
	b.Add(time.Now().UnixMilli(), []byte("en"), []byte("hello"))
	b.Add(time.Now().UnixMilli(), []byte("de"), []byte("hallo"))
	r, err := p.AppendWait(ctx, b.Finish(), engine.NeedCommitted) // synced when it returns
	fmt.Println(r.BaseOffset, r.LastOffset, err)

	data, _ := p.ReadWait(ctx, 0, 1<<20, engine.ReadCommitted)
	for s := batch.NewScanner(data, true); s.Next(); {
		it := s.View().Iter()
		for rec := (batch.Record{}); it.Next(&rec); {
			fmt.Printf("%s: %s\n", rec.Key, rec.Value)
		}
	}
	// Output:
	// 0 1 <nil>
	// en: hello
	// de: hallo
}
