package kafka

import (
	"math"

	"millrace/internal/config"
	"millrace/kafka/validate"
)

// batchRules restates what a topic's configuration says about the batches it takes.
func batchRules(c *config.TopicConfig, t *validate.Topic) {
	t.Recompress = c.Recompress
	t.Codec, t.Level = c.Codec, c.CompressionLevel
	t.LogAppendTime = c.LogAppendTime
	t.Compacted = c.Compact
	t.MaxMessageBytes = int(c.MaxMessageBytes)
	t.SegmentBytes = int(min(c.SegmentBytes, math.MaxInt32))
	t.TimestampBeforeMaxMs = c.TimestampBeforeMaxMs
	t.TimestampAfterMaxMs = c.TimestampAfterMaxMs
}
