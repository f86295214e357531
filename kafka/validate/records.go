package validate

import (
	"millrace/kafka/wire"
	"millrace/segment/batch"
)

const (
	// LoopBytes is how much a loop itself decompresses or compresses for one
	// batch; what is larger goes to a worker.
	LoopBytes = 256 << 10
	// MaxBytes is the most that a batch may decompress to, in bytes: as much as
	// the largest request could have held uncompressed.
	MaxBytes = 100 << 20
	// keepBytes is the largest scratch buffer that a Checker keeps.
	keepBytes = 1 << 20
)

// Result is what Records found.
type Result struct {
	// Code is NoError for a batch that may be appended. Message says more.
	Code    wire.ErrorCode
	Message string
	// Errors names the bad records, valid until the Checker's next use.
	Errors []wire.RecordError
	// Deferred: nothing was decided, because the batch needs more than limit
	// bytes of decompression or compression. Ask a worker.
	Deferred bool
	// Batch is final but for base offset and leader epoch. It is the batch that
	// was given, or a new one appended to dst.
	Batch batch.View
	// MaxTimestampMs is what the batch's header says now. MaxTimestampDelta is
	// the offset delta of the first record that has it.
	MaxTimestampMs    int64
	MaxTimestampDelta int32
	// AppendTimeMs is the time stamped on the batch, -1 on a CreateTime topic.
	AppendTimeMs int64
}

// Checker holds the scratch memory of Records. It is owned by its loop or
// worker. The zero value is ready.
type Checker struct {
	walk  walk
	plain []byte // decompressed records
	fresh []byte // records with rewritten deltas
}

// Records walks the records of v (as Header returned it), once, and makes the
// batch final for topic t at time nowMs. limit bounds what is decompressed or
// compressed: LoopBytes on a loop, where a larger batch comes back Deferred;
// MaxBytes on a worker, where it is refused. A batch that must be compressed
// anew is appended to dst, everything else is changed in place.
func (c *Checker) Records(v batch.View, t *Topic, nowMs int64, limit int, dst []byte) Result {
	codec := v.Attributes().Codec()
	recompress := t.Recompress && t.Codec != codec
	section := v.Payload()
	if (codec != batch.None || recompress) && len(section) > limit {
		return tooBig(limit)
	}
	if codec != batch.None {
		plain, err := decompress(c.plain[:0], codec, section, limit)
		if plain != nil {
			c.plain = plain
		}
		if err != nil {
			c.trim()
			if isTooLarge(err) {
				return tooBig(limit)
			}
			return refuse(wire.InvalidRecord, "the records do not decompress")
		}
		section = plain
	}
	w := &c.walk
	w.prepare(v, t, nowMs)
	r := c.finish(v, t, nowMs, section, recompress, dst)
	c.trim()
	return r
}

// prepare sets up the walk for one batch.
func (w *walk) prepare(v batch.View, t *Topic, nowMs int64) {
	*w = walk{base: v.BaseTimestamp(), keyed: t.Compacted, bad: w.bad[:0]}
	stamped := v.Attributes().LogAppendTime()
	if stamped {
		// Readers take the max timestamp for each record's.
		w.base, w.fixed = v.MaxTimestamp(), true
	}
	switch {
	case t.LogAppendTime:
		w.timeless = stamped
	case stamped && w.base == batch.NoTimestamp:
		w.timeless = true
	default:
		w.window(nowMs, t.TimestampBeforeMaxMs, t.TimestampAfterMaxMs)
	}
}

// finish walks the section and makes the batch final.
func (c *Checker) finish(v batch.View, t *Topic, nowMs int64, section []byte, recompress bool, dst []byte) Result {
	w := &c.walk
	if !w.run(section, v.Count()) {
		return refuse(wire.InvalidRecord, "the records are malformed or do not fit the count")
	}
	if w.failed {
		r := refuse(wire.InvalidRecord, "some records were refused")
		if w.badTime {
			r.Code = wire.InvalidTimestamp
		}
		r.Errors = w.bad
		return r
	}
	r := Result{Batch: v, MaxTimestampMs: w.maxTime, MaxTimestampDelta: w.maxDelta, AppendTimeMs: -1}
	if t.LogAppendTime {
		r.MaxTimestampMs, r.MaxTimestampDelta, r.AppendTimeMs = nowMs, 0, nowMs
	}
	switch {
	case recompress:
		one, err := c.recompress(dst, v, t, section, r.MaxTimestampMs)
		if err != nil {
			return refuse(wire.UnknownServerError, "the records could not be compressed")
		}
		if len(one) > t.MaxMessageBytes {
			return refuse(wire.MessageTooLarge, "the batch as stored is larger than max.message.bytes")
		}
		r.Batch = one
	case w.gaps && v.Attributes().Codec() != batch.None:
		return refuse(wire.InvalidRecord, "the offsets inside the batch are not consecutive")
	}
	if len(r.Batch) > t.SegmentBytes {
		return refuse(wire.RecordListTooLarge, "the batch is larger than segment.bytes")
	}
	if !recompress {
		stamp(v, t.LogAppendTime, r.MaxTimestampMs)
	}
	return r
}

// refuse is the result of a refused batch.
func refuse(code wire.ErrorCode, message string) Result {
	return Result{Code: code, Message: message, AppendTimeMs: -1}
}

// tooBig is the result of a batch beyond limit.
func tooBig(limit int) Result {
	if limit >= MaxBytes {
		return refuse(wire.MessageTooLarge, "the batch decompresses to more than the broker takes")
	}
	return Result{Deferred: true, AppendTimeMs: -1}
}

// trim gives large scratch memory back.
func (c *Checker) trim() {
	if cap(c.plain) > keepBytes {
		c.plain = nil
	}
	if cap(c.fresh) > keepBytes {
		c.fresh = nil
	}
}
