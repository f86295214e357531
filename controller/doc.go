// Package controller is the cluster's metadata: an immutable Image, the commands that change it, and the pure
// function Apply that turns one image and one committed command into the next.
//
// It never does I/O, keeps no clock, draws no random number and starts no goroutine: whatever a command needs of
// that kind (topic ids, the verdict of the configuration table) its proposer puts into the command. So every
// node that applies the same commands has the same image, and replay is the same as live (package raftnode).
//
// State: an Image is immutable once published and may be read by any goroutine without a lock; Topic, Broker,
// Partition and every map and slice reached from it likewise. A Builder is owned by the goroutine that applies.
//
// Invariants:
//   - A command is applied at most once: its session (node, incarnation) accepts counter n+1 behind n, answers n
//     again with the kept result, and refuses the commands of a superseded incarnation.
//   - Topic ids and producer ids are never handed out twice; a leader epoch never falls.
//   - An image decoded from a snapshot and the image it was encoded from encode to the same bytes.
//
// Files: image.go what can be read; topic.go, broker.go, resource.go its parts; pmap.go and plist.go the
// persistent map and list below it; builder.go the transient copy that Apply writes; command.go and one file per
// command (create.go, delete.go, partitions.go, configs.go, brokers.go, producers.go); result.go, change.go what
// Apply returns; place.go and elect.go placement and leader choice; names.go topic names; codes.go error codes;
// wire.go, encode.go, decode.go, snapshot.go bytes; client.go how the rest of the broker proposes and reads.
package controller
