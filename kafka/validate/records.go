package validate

import (
	"math"

	"millrace/internal/codec"
	"millrace/kafka/wire"
	"millrace/segment/batch"
)

const (
	// LoopBytes is how much a loop itself decompresses or compresses for one
	// batch; what is larger goes to a worker.
	LoopBytes = 256 << 10
	// maxBytes is the most that a batch may decompress to, in bytes: more than
	// a client can have held uncompressed. It bounds the work, not the memory.
	maxBytes = 1<<31 - 1
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
	// Deferred: nothing was decided, because the batch needs more than LoopBytes
	// of decompression or compression. Ask a worker.
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

// Checker holds the scratch memory of Records and Large. It is owned by its
// loop or worker. The zero value is ready.
type Checker struct {
	walk   walk
	plain  []byte // decompressed records
	fresh  []byte // records with rewritten deltas
	stream batch.Stream
	head   []byte // of the record that is written
}

// Records walks the records of v (as Header returned it), once, and makes the
// batch final for topic t at time nowMs. It is for a loop: what needs more than
// LoopBytes of decompression or compression comes back Deferred, for Large on a
// worker. A batch that must be compressed anew is appended to dst, everything
// else is changed in place.
func (c *Checker) Records(v batch.View, t *Topic, nowMs int64, dst []byte) Result {
	packed := v.Attributes().Codec()
	recompress := t.Recompress && t.Codec != packed
	section := v.Payload()
	if (packed != batch.None || recompress) && len(section) > LoopBytes {
		return deferred()
	}
	if packed != batch.None {
		if codec.Claim(codec.Type(packed), section) > LoopBytes {
			return deferred()
		}
		plain, err := decompress(c.plain[:0], packed, section, LoopBytes)
		if plain != nil {
			c.plain = plain
		}
		if err != nil {
			if isTooLarge(err) {
				return deferred()
			}
			return refuse(wire.InvalidRecord, "the records do not decompress")
		}
		section = plain
	}
	w := &c.walk
	w.prepare(v, t, nowMs)
	if !w.run(section, v.Count()) {
		return malformed()
	}
	r := c.finish(v, t, nowMs, section, recompress, dst)
	c.trim()
	return r
}

// prepare sets up the walk for one batch.
func (w *walk) prepare(v batch.View, t *Topic, nowMs int64) {
	*w = walk{base: v.BaseTimestamp(), keyed: t.Compacted, bad: w.bad[:0], most: math.MaxInt}
	if v.Attributes().Codec() != batch.None {
		w.most = t.MaxDecompressedBytes
	}
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

// finish makes the batch final after the walk. A nil section is to be unpacked
// again where it has to be compressed anew.
func (c *Checker) finish(v batch.View, t *Topic, nowMs int64, section []byte, recompress bool, dst []byte) Result {
	w := &c.walk
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
		if isTooLarge(err) || err == nil && len(one) > t.MaxMessageBytes {
			return refuse(wire.MessageTooLarge, "the batch as stored is larger than max.message.bytes")
		}
		if err != nil {
			return refuse(wire.UnknownServerError, "the records could not be compressed")
		}
		r.Batch = one
	case w.gaps && v.Attributes().Codec() != batch.None:
		return refuse(wire.UnknownServerError, "") // offsets inside that are not consecutive: Kafka fails where it would write them anew
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

func malformed() Result {
	return refuse(wire.InvalidRecord, "the records are malformed, too large or do not fit the count")
}

// tooLarge is the result of a batch beyond maxBytes.
func tooLarge() Result {
	return refuse(wire.MessageTooLarge, "the batch decompresses to more than the broker takes")
}

// deferred is the result of a batch that is too large for a loop.
func deferred() Result { return Result{Deferred: true, AppendTimeMs: -1} }

// trim gives large scratch memory back.
func (c *Checker) trim() {
	if cap(c.fresh) > keepBytes {
		c.fresh = nil
	}
}
