package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"millrace/internal/config"
)

// banner says in a few lines what runs and where.
func (s *server) banner() {
	var listeners []string
	for i, l := range s.loaded.Broker.Listeners {
		host, port := s.node.Advertised(i)
		listeners = append(listeners, fmt.Sprintf("%s://%s:%d", l.Name, host, port))
	}
	report := s.node.Report()
	admin := "off"
	if s.admin != nil {
		admin = "http://" + s.admin.Addr().String()
	}
	s.log.Info("millrace is ready", "version", version, "node", s.node.ID(), "cluster", s.node.ClusterID(), "took_ms", time.Since(s.began).Milliseconds())
	s.log.Info("clients connect to " + strings.Join(listeners, ", "))
	s.log.Info("data is in "+strings.Join(s.loaded.Broker.LogDirs, ", "), "partitions", report.Partitions, "unclean", report.Unclean,
		"scanned_bytes", report.ScannedBytes, "cut_bytes", report.CutBytes, "load_ms", report.DurationMs)
	s.log.Info("io engine "+s.reason, "loops", len(s.loops), "append", s.loaded.Broker.LogAppendMode)
	s.log.Info("metrics, health and profiles at "+admin, "pid", os.Getpid())
}

// findingsMax is how many keys without effect are named one by one.
const findingsMax = 6

// reportFindings says which keys of the file have no effect; the complete list is `millrace config check`.
func reportFindings(log *slog.Logger, loaded *config.Loaded) {
	var idle []string
	for _, f := range loaded.Findings {
		if f.Verdict == config.Ignored {
			idle = append(idle, f.Key)
		}
		log.Debug("configuration", "finding", f.String())
	}
	if len(idle) == 0 {
		return
	}
	shown, more := idle, ""
	if len(idle) > findingsMax {
		shown, more = idle[:findingsMax], fmt.Sprintf(" and %d more", len(idle)-findingsMax)
	}
	log.Info("accepted without effect: "+strings.Join(shown, ", ")+more, "used", len(loaded.Findings)-len(idle),
		"details", "millrace config check "+loaded.File)
}
