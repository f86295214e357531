package loglevel

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestLevelsChangeWhileLoggersAreInUse(t *testing.T) {
	var out bytes.Buffer
	l := New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: Trace}), slog.LevelInfo)
	engine, kafka := l.Logger("engine").With("a", 1), l.Logger("kafka")
	main := l.Main()
	writes := func(log *slog.Logger) string {
		out.Reset()
		log.Debug("debug")
		log.Info("info")
		log.Error("error")
		var seen []string
		for _, w := range []string{"debug", "info", "error"} {
			if strings.Contains(out.String(), "msg="+w) {
				seen = append(seen, w)
			}
		}
		return strings.Join(seen, " ")
	}
	expect := func(step, inEngine, inKafka, inMain string) {
		t.Helper()
		for _, c := range []struct {
			name string
			log  *slog.Logger
			want string
		}{{"engine", engine, inEngine}, {"kafka", kafka, inKafka}, {"main", main, inMain}} {
			if got := writes(c.log); got != c.want {
				t.Errorf("%s: %s writes %q, want %q", step, c.name, got, c.want)
			}
		}
	}
	expect("at first", "info error", "info error", "info error")
	l.Set("engine", slog.LevelDebug)
	expect("engine set", "debug info error", "info error", "info error")
	l.Set(Root, slog.LevelError)
	expect("root set", "debug info error", "error", "error")
	l.Unset("engine")
	expect("engine unset", "error", "error", "error")
	l.Set("nobody", slog.LevelDebug)
	if l.Known("nobody") || !l.Known("engine") || !l.Known(Root) {
		t.Error("wrong loggers are known")
	}
	if got := l.Names(); !slices.Equal(got, []string{"engine", "kafka", "root"}) {
		t.Errorf("names %v", got)
	}
	writes(engine)
	if !strings.Contains(out.String(), "logger=engine") {
		t.Errorf("a line does not name its logger: %s", out.String())
	}
}

func TestNamesOfLevels(t *testing.T) {
	for _, w := range words {
		if level, ok := Parse(w.name); !ok || level != w.level || Name(level) != w.name {
			t.Errorf("%s: %v %v %s", w.name, level, ok, Name(level))
		}
	}
	if _, ok := Parse("info"); ok {
		t.Error("levels are upper case words")
	}
	if Name(slog.LevelInfo+1) != "INFO" || Name(Trace-5) != "TRACE" {
		t.Error("levels between two words have the lower one")
	}
}
