// Package loglevel gives each part of the broker a logger whose level can be changed while the broker runs, as Kafka's
// broker loggers can (KIP-412).
//
// There is one root level and a fixed set of named loggers. A logger has the root's level until it is set to one of its
// own. Levels are kept in memory: a restart begins with the configured ones.
//
// It writes nothing itself: a slog.Handler that is given to New does. Any goroutine may use a Levels.
//
// Files: levels.go (the set of loggers), handler.go (the filter in front of the handler), names.go (Kafka's words).
package loglevel
