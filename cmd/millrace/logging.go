package main

import (
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"millrace/internal/config"
)

// logLevel can be changed while the broker runs.
var logLevel slog.LevelVar

func newLogger(c *config.BrokerConfig) *slog.Logger {
	switch c.LoggingLevel {
	case "debug":
		logLevel.Set(slog.LevelDebug)
	case "warn":
		logLevel.Set(slog.LevelWarn)
	case "error":
		logLevel.Set(slog.LevelError)
	default:
		logLevel.Set(slog.LevelInfo)
	}
	opts := &slog.HandlerOptions{Level: &logLevel}
	json := c.LoggingFormat == "json"
	if c.LoggingFormat == "auto" {
		_, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS)
		json = err != nil
	}
	if json {
		return slog.New(slog.NewJSONHandler(os.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, opts))
}
