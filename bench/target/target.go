package target

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says how a target is started.
type Kind string

// Kinds of targets.
const (
	Millrace Kind = "millrace"
	Kafka    Kind = "kafka"
	Floor    Kind = "floor"
	Address  Kind = "address" // runs already; we know its address only
)

// Target is something that can be measured. Immutable.
type Target struct {
	Name  string `json:"name"`
	Kind  Kind   `json:"kind"`
	Loops int    `json:"loops,omitempty"` // millrace, floor

	Binary    string   `json:"-"`                   // millrace; floor: our own
	SelfArgs  []string `json:"-"`                   // floor: what leads to the bench command in our own binary
	Engine    string   `json:"engine,omitempty"`    // millrace: uring or epoll
	Overrides []string `json:"overrides,omitempty"` // millrace: key=value

	Mode string `json:"mode,omitempty"` // floor
	Sync string `json:"sync,omitempty"` // floor
	Kept string `json:"kept,omitempty"` // floor: log directory of another target that it starts on, only to read

	StartCommand string `json:"start,omitempty"` // kafka: {port}, {dir} and {cpus} are replaced; must end when Kafka answers
	StopCommand  string `json:"stop,omitempty"`

	Addr  string `json:"addr,omitempty"` // address
	Admin string `json:"-"`
}

// Sources say where targets come from.
type Sources struct {
	Millrace   string   // binary
	Overrides  []string // for millrace
	Self       string   // our own binary
	SelfArgs   []string
	KafkaStart string
	KafkaStop  string
	Loops      int
}

// Floors by name.
var floors = map[string]struct{ mode, sync string }{
	"floor-null":         {"null", "none"},
	"floor-start":        {"write", "each"},
	"floor-write":        {"write", "background"},
	"floor-write-nosync": {"write", "none"},
	"floor-read":         {"write", "none"},
	"floor-echo":         {"echo", "none"},
	"floor-sync":         {"write", "each"},
}

// FloorNames lists all floors.
func FloorNames() []string {
	return []string{"floor-write", "floor-write-nosync", "floor-read", "floor-echo", "floor-sync", "floor-null", "floor-start"}
}

// Parse makes a target of a name: millrace-uring, millrace-epoll, kafka, a floor's name, or NAME=HOST:PORT for a broker that
// runs already (NAME kafka takes Kafka's settings for durable topics).
func Parse(name string, s Sources) (Target, error) {
	if label, addr, ok := strings.Cut(name, "="); ok {
		return Target{Name: label, Kind: Address, Addr: addr}, nil
	}
	if f, ok := floors[name]; ok {
		return Target{Name: name, Kind: Floor, Binary: s.Self, SelfArgs: s.SelfArgs, Mode: f.mode, Sync: f.sync, Loops: s.Loops}, nil
	}
	switch name {
	case "millrace-uring", "millrace-epoll":
		if s.Millrace == "" {
			return Target{}, errors.New("--millrace names no binary")
		}
		return Target{Name: name, Kind: Millrace, Binary: s.Millrace, Engine: strings.TrimPrefix(name, "millrace-"), Loops: s.Loops, Overrides: s.Overrides}, nil
	case "kafka":
		if s.KafkaStart == "" {
			return Target{}, errors.New("the target kafka needs --kafka-start COMMAND, or kafka=HOST:PORT")
		}
		return Target{Name: name, Kind: Kafka, StartCommand: s.KafkaStart, StopCommand: s.KafkaStop}, nil
	}
	return Target{}, fmt.Errorf("%q is no target: millrace-uring, millrace-epoll, kafka, %s, or NAME=HOST:PORT", name, strings.Join(FloorNames(), ", "))
}

// ChecksRecords says whether the target must refuse a spoiled batch.
func (t Target) ChecksRecords() bool { return t.Kind != Floor }

// JVM says whether the target needs a longer warm-up.
func (t Target) JVM() bool { return t.Kind == Kafka || strings.HasPrefix(t.Name, "kafka") }
