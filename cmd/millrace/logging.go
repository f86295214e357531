package main

import (
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"millrace/internal/config"
	"millrace/internal/loglevel"
)

// newLevels makes the loggers of the broker's parts; clients can change their levels (KIP-412).
func newLevels(c *config.BrokerConfig) *loglevel.Levels {
	level := slog.LevelInfo
	switch c.LoggingLevel {
	case "debug":
		level = slog.LevelDebug
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	opts := &slog.HandlerOptions{Level: loglevel.Trace}
	json := c.LoggingFormat == "json"
	if c.LoggingFormat == "auto" {
		_, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS)
		json = err != nil
	}
	if json {
		return loglevel.New(slog.NewJSONHandler(os.Stderr, opts), level)
	}
	return loglevel.New(slog.NewTextHandler(os.Stderr, opts), level)
}
