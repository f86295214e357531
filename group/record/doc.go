// Package record knows the keys and values of the records in __consumer_offsets, byte for byte as Apache Kafka 4.4
// writes them, so that Kafka's tools read ours and we read Kafka's.
//
// It holds no state and applies nothing: package group does that.
//
// A key is an int16 type and the fields of that type in the classic (not compact) encoding; a value is an int16
// version and its fields. A record whose value is null is a tombstone. Types by number:
//
//	 0, 1  a committed offset: group, topic, partition
//	 2     a classic group with its members and assignments
//	 3     a consumer group (KIP-848): its epoch
//	 4     its subscribed topics' metadata; written before Kafka 4.1, read only
//	 5     one member's subscription
//	 6     the epoch of the target assignment
//	 7     one member's target assignment
//	 8     one member's current assignment
//	16     the topics that a regular expression matches
//
// The types between and above belong to share and streams groups: ErrUnknownType.
//
// Files: key.go, record.go, offset.go, classic.go, consumer.go, reader.go and append.go (primitives).
package record
