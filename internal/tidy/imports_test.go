package tidy

import (
	"strconv"
	"strings"
	"testing"
)

// mayImport lists, for each package (and those below it that have no line of their own), the packages of this module
// that its non-test code may import. Imports point one way: see docs/architecture.md. A package without a line may
// import nothing of ours.
var mayImport = map[string][]string{
	"internal/invariant":   {},
	"internal/bufpool":     {"internal/invariant"},
	"internal/crc32c":      {},
	"internal/metric":      {},
	"internal/loglevel":    {},
	"internal/codec":       {},
	"internal/config":      {"internal/codec"},
	"internal/adminhttp":   {"internal/metric"},
	"vfs":                  {"internal"},
	"segment/batch":        {"internal/crc32c"},
	"segment":              {"vfs", "segment/batch", "internal"},
	"netpoll":              {"vfs", "internal"},
	"netpoll/uring":        {"netpoll", "vfs", "internal"},
	"netpoll/epoll":        {"netpoll", "vfs", "internal"},
	"netpoll/faulty":       {"netpoll", "vfs", "internal"},
	"netpoll/drivertest":   {"netpoll", "vfs", "internal"},
	"engine":               {"segment", "segment/batch", "netpoll", "netpoll/epoll", "vfs", "internal"},
	"controller":           {"internal/invariant"},
	"controller/raftnode":  {"controller", "segment", "segment/batch", "vfs", "internal"},
	"group/record":         {},
	"group":                {"group/record", "internal/invariant"},
	"cli":                  {"cli/conn", "cli/kafkatool", "segment", "vfs"},
	"cli/jopt":             {},
	"cli/conn":             {"internal/config"},
	"cli/kafkatool":        {"cli/conn", "cli/jopt", "group/record", "segment/batch", "internal"},
	"broker":               {"group", "group/record", "engine", "segment", "segment/batch", "controller", "controller/raftnode", "netpoll", "vfs", "internal"},
	"kafka/wire":           {},
	"kafka/validate":       {"kafka/wire", "segment/batch", "internal"},
	"kafka":                {"broker", "group", "group/record", "engine", "segment", "segment/batch", "controller", "kafka/wire", "kafka/validate", "netpoll", "internal"},
	"bench":                {"*"},
	"cmd":                  {"*"},
	"internal/tidy":        {},
	"internal/config/docs": {"internal/config"},
}

// only these may import the io_uring driver (it needs a linker flag, docs/adr/0001).
const uringDriver = "millrace/netpoll/uring"

func ruleFor(pkg string) ([]string, bool) {
	for p := pkg; ; {
		if rule, ok := mayImport[p]; ok {
			return rule, true
		}
		cut := strings.LastIndexByte(p, '/')
		if cut < 0 {
			return nil, false
		}
		p = p[:cut]
	}
}

func allowed(rule []string, imported string) bool {
	for _, r := range rule {
		if r == "*" || imported == r || r == "internal" && strings.HasPrefix(imported, "internal/") {
			return true
		}
	}
	return false
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		rule, ok := ruleFor(s.pkg)
		if !ok {
			t.Errorf("%s: package %s has no line in mayImport", s.path, s.pkg)
			continue
		}
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			ours, isOurs := strings.CutPrefix(path, "millrace/")
			if !isOurs || ours == s.pkg || strings.HasPrefix(ours, s.pkg+"/") && !strings.HasPrefix(s.pkg, "netpoll") {
				continue
			}
			if path == uringDriver && !strings.HasPrefix(s.pkg, "cmd/") {
				t.Errorf("%s imports %s: only mains may", s.path, path)
			}
			if !allowed(rule, ours) {
				t.Errorf("%s: %s may not import %s", s.path, s.pkg, ours)
			}
		}
	}
}
