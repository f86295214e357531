package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Finding is the verdict on one entry of the file or the overrides.
type Finding struct {
	Key string
	// Value is as it was written, or "***" where it must not be shown.
	Value string
	// File and Line say where it stands; overrides have no line.
	File    string
	Line    int
	Verdict Verdict
	// Why is the reason for any verdict but Used.
	Why string
}

// Where is the place of a finding or problem for people to read.
func where(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func (f Finding) String() string {
	s := fmt.Sprintf("%s: %s=%s: %s", where(f.File, f.Line), f.Key, f.Value, f.Verdict)
	if f.Why != "" {
		s += " (" + f.Why + ")"
	}
	return s
}

// Problem is an entry that stops the start.
type Problem struct {
	File    string
	Line    int
	Message string
}

func (p Problem) String() string { return where(p.File, p.Line) + ": " + p.Message }

// Problems is the error of Load: every entry that is wrong, one a line.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Loaded is what a property file and overrides come to. Immutable once
// published.
type Loaded struct {
	// File is the path, empty where there is none.
	File string
	// Static is the layer of values, with what is filled in for keys that a
	// running broker always has: node.id, process.roles, log.dirs.
	Static Set
	// Findings has a verdict for each entry, in the order of the file.
	Findings []Finding
	// Warnings are remarks on entries that count, but oddly.
	Warnings []string
	// Broker is the typed view.
	Broker *BrokerConfig
}

// Layers are the layers of a broker that has just read its file. The dynamic
// ones come from the metadata later.
func (l *Loaded) Layers() *Layers { return &Layers{Static: l.Static} }

const overrideFile = "--override"

// Load reads a property file, unless path is empty, and puts key=value
// overrides on top. The error is a Problems, unless the file cannot be read.
func Load(path string, overrides []string) (*Loaded, error) {
	var data []byte
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("cannot read the property file: %w", err)
		}
	}
	return Build(path, data, overrides)
}

// Build is Load for a file that was read already.
func Build(path string, data []byte, overrides []string) (*Loaded, error) {
	b := builder{loaded: &Loaded{File: path, Static: Set{}}, place: map[string]Problem{}}
	b.file(path, data)
	b.overrides(overrides)
	b.fillIn()
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	b.finish()
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	return b.loaded, nil
}

// builder collects what Build finds. Owned by one Build.
type builder struct {
	loaded   *Loaded
	problems Problems
	// place remembers where each key was set last.
	place map[string]Problem
}

func (b *builder) problem(at Problem, format string, args ...any) {
	at.Message = fmt.Sprintf(format, args...)
	b.problems = append(b.problems, at)
}

func (b *builder) file(path string, data []byte) {
	entries, err := ParseProperties(data)
	if err != nil {
		var syntax *SyntaxError
		at := Problem{File: path}
		if errors.As(err, &syntax) {
			at.Line = syntax.Line
			err = errors.New(syntax.Message)
		}
		b.problem(at, "%s", err)
		return
	}
	for _, e := range entries {
		if before, twice := b.place[e.Key]; twice {
			b.loaded.Warnings = append(b.loaded.Warnings, fmt.Sprintf("%s: %s was set on line %d already; the last one counts", where(path, e.Line), e.Key, before.Line))
			b.loaded.Findings = slices.DeleteFunc(b.loaded.Findings, func(f Finding) bool { return f.Key == e.Key })
			b.problems = slices.DeleteFunc(b.problems, func(p Problem) bool { return p.Line == before.Line })
		}
		b.entry(e, path)
	}
}

func (b *builder) overrides(overrides []string) {
	for _, text := range overrides {
		key, value, ok := strings.Cut(text, "=")
		if key = trim(key); !ok || key == "" {
			b.problem(Problem{File: overrideFile}, "%q is not key=value", text)
			continue
		}
		if before, twice := b.place[key]; twice {
			b.loaded.Findings = slices.DeleteFunc(b.loaded.Findings, func(f Finding) bool { return f.Key == key })
			b.problems = slices.DeleteFunc(b.problems, func(p Problem) bool { return p.Line == before.Line && p.File == before.File && p.Line > 0 })
		}
		b.entry(Property{Key: key, Value: value}, overrideFile)
	}
}

// entry judges one entry and takes it into the static layer.
func (b *builder) entry(e Property, file string) {
	at := Problem{File: file, Line: e.Line}
	b.place[e.Key] = at
	f := Finding{Key: e.Key, Value: trim(e.Value), File: file, Line: e.Line}
	k, known := Lookup(Broker, e.Key)
	if !known {
		b.foreign(e, f, at)
		return
	}
	if k.Sensitive() {
		f.Value = "***"
	}
	v, err := k.Parse(e.Value)
	if k.NoDefault && trim(e.Value) == "" && k.Type != List {
		// An empty value of a key without default says that it is not set.
		f.Verdict, f.Why = Ignored, "the value is empty"
		b.loaded.Findings = append(b.loaded.Findings, f)
		delete(b.loaded.Static, e.Key)
		return
	}
	if err != nil {
		if k.Sensitive() {
			err = fmt.Errorf("%s: the value is not allowed; allowed: %s", e.Key, k.Allowed())
		}
		b.problem(at, "%s", err)
		return
	}
	f.Verdict, f.Why = k.Effect.Verdict, k.Effect.Why
	if k.Effect.Verdict == Refused {
		if v.String() != k.DefaultValue().String() {
			b.problem(at, "%s=%s is refused: %s; allowed: %s", e.Key, f.Value, k.Effect.Why, refusedDefault(k))
			return
		}
		f.Verdict, f.Why = Ignored, "the value is the default"
	}
	b.loaded.Findings = append(b.loaded.Findings, f)
	b.loaded.Static[e.Key] = e.Value
}

func refusedDefault(k *Key) string {
	if k.Default == "" {
		return "no value"
	}
	return k.Default
}

// foreign judges an entry whose key is not in the table.
func (b *builder) foreign(e Property, f Finding, at Problem) {
	effect, ok := foreignKey(e.Key)
	switch {
	case !ok:
		b.problem(at, "%s is not a key that Millrace or Kafka knows%s", e.Key, hint(e.Key))
		return
	case effect.Verdict == Refused && !strings.EqualFold(trim(e.Value), "false"):
		b.problem(at, "%s=%s is refused: %s", e.Key, trim(e.Value), effect.Why)
		return
	}
	if mayBeSecret(e.Key) {
		f.Value = "***"
	}
	f.Verdict, f.Why = Ignored, effect.Why
	b.loaded.Findings = append(b.loaded.Findings, f)
	b.loaded.Static[e.Key] = e.Value
}

// mayBeSecret guesses by the name of a key that is not in the table.
func mayBeSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"password", "passphrase", "secret", "jaas", "token", "credential", "private", ".key"}, func(word string) bool { return strings.Contains(name, word) })
}

// fillIn sets what a running broker always has.
func (b *builder) fillIn() {
	s := b.loaded.Static
	has := func(name string) bool { _, ok := s[name]; return ok }
	old := trim(s["broker.id"])
	switch {
	case old == "-1" || old == "":
		delete(s, "broker.id")
	case !has("node.id"):
		s["node.id"] = old
	case mustLookup(Broker, "node.id").same(old, s["node.id"]):
	default:
		b.problem(b.place["broker.id"], "broker.id is %s, but node.id is %s; allowed: the same number, or node.id alone", old, trim(s["node.id"]))
	}
	if !has("node.id") {
		s["node.id"] = "0"
	}
	s["broker.id"] = trim(s["node.id"])
	if !has("process.roles") {
		s["process.roles"] = "broker,controller"
	}
	if !has("log.dirs") && !has("log.dir") {
		s["log.dirs"] = "./data"
	}
	if !has("listeners") && b.loaded.File == "" {
		s["listeners"] = "PLAINTEXT://localhost:9092"
	}
}

// same tells whether two texts are one value.
func (k *Key) same(a, b string) bool {
	x, errX := k.Parse(a)
	y, errY := k.Parse(b)
	return errX == nil && errY == nil && x.String() == y.String()
}

// finish holds the entries against each other and builds the typed view.
func (b *builder) finish() {
	layers := b.loaded.Layers()
	for _, err := range []error{layers.check(), layers.checkAlone()} {
		if err != nil {
			b.problem(b.culprit(err), "%s", err)
		}
	}
	broker, err := layers.BrokerConfig()
	if err != nil {
		b.problem(b.culprit(err), "%s", err)
		return
	}
	b.loaded.Broker = broker
}

// checkAlone refuses what asks for other nodes. It goes when clusters are
// built.
func (l *Layers) checkAlone() error {
	id := l.whole("node.id")
	if roles := l.list("process.roles"); len(roles) != 2 {
		return fmt.Errorf("process.roles is %s; allowed: broker,controller, since every node is both", strings.Join(roles, ","))
	}
	voters, err := parseVoters(l.list("controller.quorum.voters"))
	if err != nil {
		return err
	}
	for _, v := range voters {
		if int64(v.ID) != id {
			return fmt.Errorf("controller.quorum.voters names node %d, but this is node %d and clusters of several nodes are not built yet; allowed: %d alone, or nothing", v.ID, id, id)
		}
	}
	if servers := l.list("controller.quorum.bootstrap.servers"); len(servers) > 1 {
		return fmt.Errorf("controller.quorum.bootstrap.servers names %d controllers, but clusters of several nodes are not built yet; allowed: one, or nothing", len(servers))
	}
	return nil
}

// culprit finds the entry that an error text begins with.
func (b *builder) culprit(err error) Problem {
	name, _, _ := strings.Cut(err.Error(), " ")
	name = strings.TrimSuffix(name, ":")
	if at, ok := b.place[name]; ok {
		return at
	}
	for _, key := range slices.Sorted(maps.Keys(b.place)) {
		if strings.Contains(err.Error(), key) {
			return b.place[key]
		}
	}
	if b.loaded.File == "" {
		return Problem{File: overrideFile}
	}
	return Problem{File: b.loaded.File}
}

// hint names what somebody may have meant.
func hint(name string) string {
	if k, ok := Lookup(Topic, name); ok {
		if k.Follows != "" && k.Follows != name {
			return fmt.Sprintf(": it is a topic config; its default for all topics is %s", k.Follows)
		}
		return ": it is a topic config, set it for the topic"
	}
	best, distance := "", 4
	for _, k := range Keys(Broker) {
		if d := editDistance(strings.ToLower(name), k.Name, distance); d < distance {
			best, distance = k.Name, d
		}
	}
	if best == "" {
		return "; allowed: the keys in docs/configuration.md"
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// editDistance counts the letters to add, drop or change between a and b; what
// is not below limit is limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := prev[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, prev[j+1]+1, row[j]+1)
		}
		prev, row = row, prev
	}
	return min(prev[len(b)], limit)
}
