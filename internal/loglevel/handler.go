package loglevel

import (
	"context"
	"log/slog"
)

// filter drops what lies below the level of one logger. Immutable; the level is shared and live.
type filter struct {
	slog.Handler
	level *slog.LevelVar
}

// Enabled implements slog.Handler.
func (f *filter) Enabled(_ context.Context, level slog.Level) bool { return level >= f.level.Level() }

// WithAttrs implements slog.Handler.
func (f *filter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &filter{f.Handler.WithAttrs(attrs), f.level}
}

// WithGroup implements slog.Handler.
func (f *filter) WithGroup(name string) slog.Handler {
	return &filter{f.Handler.WithGroup(name), f.level}
}
