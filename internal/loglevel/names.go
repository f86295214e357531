package loglevel

import "log/slog"

// The two of Kafka's levels that slog has no name for.
const (
	Trace = slog.LevelDebug - 4
	Fatal = slog.LevelError + 4
)

// words are Kafka's names of the levels, lowest first.
var words = []struct {
	name  string
	level slog.Level
}{
	{"TRACE", Trace},
	{"DEBUG", slog.LevelDebug},
	{"INFO", slog.LevelInfo},
	{"WARN", slog.LevelWarn},
	{"ERROR", slog.LevelError},
	{"FATAL", Fatal},
}

// Parse finds the level that Kafka calls name.
func Parse(name string) (slog.Level, bool) {
	for _, w := range words {
		if w.name == name {
			return w.level, true
		}
	}
	return 0, false
}

// Name is Kafka's word for a level; one between two words has the lower one.
func Name(level slog.Level) string {
	name := words[0].name
	for _, w := range words {
		if level >= w.level {
			name = w.name
		}
	}
	return name
}
