package controller

import "math"

// Kind implements Body.
func (c *AllocateProducerIDs) Kind() Kind { return KindAllocateProducerIDs }

// apply hands out the next block. Ids start at 0, and a block that was handed out is never handed out again,
// whether or not its taker used it.
func (c *AllocateProducerIDs) apply(b *Builder, _ uint64) Result {
	if c.Count <= 0 || b.im.nextProducerID > math.MaxInt64-int64(c.Count) {
		return Result{Code: CodeUnknownServerError, Text: "No block of producer ids of that size is left."}
	}
	first := b.im.nextProducerID
	b.im.nextProducerID += int64(c.Count)
	return Result{FirstProducerID: first}
}
