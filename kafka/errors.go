package kafka

import (
	"errors"

	"millrace/engine"
	"millrace/kafka/wire"
)

// engineCodes is the one table from the engine's errors to Kafka's codes.
var engineCodes = []struct {
	err  error
	code wire.ErrorCode
}{
	{engine.ErrNotLeader, wire.NotLeaderOrFollower},
	{engine.ErrFenced, wire.FencedLeaderEpoch},
	{engine.ErrUnknownEpoch, wire.UnknownLeaderEpoch},
	{engine.ErrOutOfOrderSequence, wire.OutOfOrderSequenceNumber},
	{engine.ErrInvalidProducerEpoch, wire.InvalidProducerEpoch},
	{engine.ErrTooManyProducers, wire.UnknownServerError},
	{engine.ErrBatchTooLarge, wire.RecordListTooLarge},
	{engine.ErrInvalidBatch, wire.InvalidRecord},
	{engine.ErrOutOfRange, wire.OffsetOutOfRange},
	{engine.ErrCorrupt, wire.CorruptMessage},
	{engine.ErrOffline, wire.KafkaStorageError},
	{engine.ErrStorageFull, wire.KafkaStorageError},
	{engine.ErrDeleted, wire.UnknownTopicOrPartition},
	{engine.ErrExists, wire.TopicAlreadyExists},
	{engine.ErrTopicID, wire.InconsistentTopicId},
	{engine.ErrName, wire.InvalidTopicException},
	{engine.ErrClosed, wire.NotLeaderOrFollower},
}

// codeOf is the Kafka code of an error of the engine; an error that is not in the table is a fault of ours.
func codeOf(err error) wire.ErrorCode {
	if err == nil {
		return wire.NoError
	}
	for _, e := range engineCodes {
		if errors.Is(err, e.err) {
			return e.code
		}
	}
	return wire.UnknownServerError
}
