package kafka

import (
	"millrace/internal/config"
	"millrace/kafka/validate"
	"millrace/segment/batch"
)

// batchRules restates what a topic's configuration says about the batches it takes.
func batchRules(c *config.TopicConfig, t *validate.Topic) {
	if t.Recompress = c.Codec != config.KeepCodec; t.Recompress {
		t.Codec = batch.Codec(c.Codec)
		switch t.Codec {
		case batch.Gzip:
			t.Level = c.GzipLevel
		case batch.LZ4:
			t.Level = c.Lz4Level
		case batch.Zstd:
			t.Level = c.ZstdLevel
		}
	}
	t.LogAppendTime = c.LogAppendTime
	t.Compacted = c.Compact
	t.MaxMessageBytes = int(c.MaxMessageBytes)
	t.SegmentBytes = int(c.SegmentBytes)
	t.MaxDecompressedBytes = int(c.MaxDecompressedBytes)
	t.TimestampBeforeMaxMs = c.TimestampBeforeMaxMs
	t.TimestampAfterMaxMs = c.TimestampAfterMaxMs
}
