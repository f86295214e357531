package kafkatool

import (
	"path"
	"slices"
	"strings"
)

func all() []*tool {
	return []*tool{
		topicsTool, producerTool, consumerTool, groupsTool, configsTool, offsetsTool, deleteRecordsTool, logDirsTool, apiVersionsTool, dumpLogTool,
		producerPerfTool, consumerPerfTool, serverStartTool, serverStopTool,
	}
}

func find(name string) *tool {
	name = strings.TrimSuffix(path.Base(name), ".sh")
	for _, t := range all() {
		if t.name == name {
			return t
		}
	}
	return nil
}

// Names lists the tools, sorted.
func Names() []string {
	var out []string
	for _, t := range all() {
		out = append(out, t.name)
	}
	slices.Sort(out)
	return out
}

// Knows reports whether a program called by this name (a path, with or without .sh) is one of the tools.
func Knows(name string) bool { return find(name) != nil }

// IsServer reports whether the tool runs or stops a broker.
func IsServer(name string) bool {
	t := find(name)
	return t != nil && (t == serverStartTool || t == serverStopTool)
}
