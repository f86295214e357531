// Package group is Kafka's group coordinator as pure machines: consumer groups of both protocols and their committed
// offsets, for one partition of __consumer_offsets each.
//
// It has no goroutine, no clock and no randomness; it does no I/O and knows no wire format. Time, fresh ids, the cluster's
// topics and the settings come in, records and replies come out:
//
//	c := group.New(cfg)
//	for each record of the log { c.Replay(rec) }
//	c.Loaded(topics, now)
//	c.Step(request, now); c.Tick(now) at c.Deadline()
//	rd := c.Ready()        // send rd.Replies; append rd.Writes, each in one batch, in order
//	c.Written(w, code, now) // in order, once w is committed (None) or known not to be in the log; then Ready again
//
// # State and who owns it
//
// A Coordinator and all below it belong to the loop that owns the partition. There is no speculative state: what records
// hold changes in apply only, which replayed and live records go through alike, the latter when they are committed. An
// event whose outcome is a record answers after that. The group's next event waits until then (Group.held), so each
// event sees all that went before it. Plain offset commits are the exception: they depend on membership only, so several
// may be under way (writeOffsets); what enumerates the offsets of a group (deletion, expiry) waits for them.
//
// What is not in records (who waits in a join, generations between two stored assignments, timers) lives beside it in the
// protocol and is lost with the coordinator, as in Kafka: members find out and join again.
//
// # Two protocols, one Group
//
// A Group has an id, offsets, and a protocol that runs it: *classicGroup (classic*.go) or *consumerGroup (consumer*.go,
// KIP-848), both behind the small interface protocol in group.go. apply sets and replaces Group.protocol:
//
//   - a record of TypeClassicGroup makes it a classic group, its tombstone ends that;
//   - the records of types 3 to 8 and 16 go to Coordinator.applyConsumer, which makes and ends consumer groups;
//   - an offset of a group without protocol makes a classic group without protocol type ("simple").
//
// A change of protocol is one write: tombstones of the old protocol's records (protocol.tombstones), then the new
// records. Offsets stay. applyX calls protocol.stop of what it replaces. Requests of either protocol reach whatever
// protocol runs the group: JoinGroup and its kin are methods of the interface, so that a consumer group answers them for
// classic members; ConsumerGroupHeartbeat comes as Coordinator.consumerHeartbeat(g, r), where g.protocol may be nil, a
// *classicGroup or a *consumerGroup. Events run with Group.held false, may call Coordinator.write once as their last act, and
// must reply to their request exactly once, at once or in write's done function (or later from a timer or another event
// of the group). Timers are fields of type timer with group and fire set; they fire as events.
//
// Invariants: each request is answered exactly once; records of one event stand in one batch; a live coordinator's
// records-held state equals that of a replay of its log at every moment; nothing of a failed write shows.
//
// Files: coordinator.go (entry, Ready), group.go (Group, protocol, dispatch), requests.go, codes.go, config.go, timer.go;
// offsets.go, pending.go (transactions), commit.go, expire.go, admin.go; classic*.go; consumer*.go, with assign*.go (server-side assignors) and regex.go. Record schemas are in package record.
package group
