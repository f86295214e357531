package kafkatool

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kafka-producer-perf-test has a parser of command lines of its own in Kafka, which is known from Python: other usage, other errors.

// argKind is what an option takes.
type argKind uint8

const (
	argFlag argKind = iota
	argText
	argList // one or more words
	argInt
	argLong
	argDouble
)

// argOption is one option. Immutable.
type argOption struct {
	name, meta, help, def string
	kind                  argKind
	must                  bool
	choices               []string
	group                 bool // exactly one of the group must be given
}

// argSet is the options of a tool in the order of its usage, those of the group last. Immutable.
type argSet struct {
	prog    string
	about   string
	options []argOption
}

// argValues holds what was given under an option's name. Owned by its caller.
type argValues map[string][]string

func (v argValues) has(name string) bool { _, ok := v[name]; return ok }

func (v argValues) str(name string) string {
	if a := v[name]; len(a) > 0 {
		return a[len(a)-1]
	}
	return ""
}

func (v argValues) int(name string) int64 { n, _ := strconv.ParseInt(v.str(name), 10, 64); return n }

// errHelp asks for the usage.
var errHelp = errors.New("help")

var negative = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

func isArgument(word string) bool {
	return !strings.HasPrefix(word, "-") || word == "-" || negative.MatchString(word)
}

func (s *argSet) find(name string) *argOption {
	for i := range s.options {
		if s.options[i].name == name {
			return &s.options[i]
		}
	}
	return nil
}

// parse reads args and fills in defaults. Values are checked to be of their kind.
func (s *argSet) parse(args []string) (argValues, error) {
	v := argValues{}
	var group *argOption
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		if name == "-h" || name == "--help" {
			return nil, errHelp
		}
		o := s.find(strings.TrimPrefix(name, "--"))
		if o == nil || !strings.HasPrefix(name, "--") {
			return nil, fmt.Errorf("unrecognized arguments: '%s'", args[i])
		}
		if o.group && group != nil && group != o {
			return nil, fmt.Errorf("argument --%s: not allowed with argument --%s", o.name, group.name)
		}
		if o.group {
			group = o
		}
		var words []string
		if inline {
			words = append(words, value)
		}
		for o.kind != argFlag && !inline && i+1 < len(args) && isArgument(args[i+1]) && (o.kind == argList || len(words) == 0) {
			i++
			words = append(words, args[i])
		}
		if err := o.check(words); err != nil {
			return nil, err
		}
		v[o.name] = append(v[o.name], words...)
	}
	return v, s.finish(v, group)
}

// finish refuses what is not complete and adds the defaults.
func (s *argSet) finish(v argValues, group *argOption) error {
	var names []string
	for _, o := range s.options {
		switch {
		case o.group:
			names = append(names, "--"+o.name)
		case o.must && !v.has(o.name):
			return fmt.Errorf("argument --%s is required", o.name)
		case o.def != "" && !v.has(o.name):
			v[o.name] = []string{o.def}
		}
	}
	if group == nil && names != nil {
		return fmt.Errorf("one of the arguments %s is required", strings.Join(names, " "))
	}
	return nil
}

func (o *argOption) check(words []string) error {
	switch {
	case o.kind == argFlag && len(words) > 0:
		return fmt.Errorf("argument --%s: ignored explicit argument '%s'", o.name, words[0])
	case o.kind == argFlag:
		return nil
	case len(words) == 0 && o.kind == argList:
		return fmt.Errorf("argument --%s: expected at least one argument", o.name)
	case len(words) == 0:
		return fmt.Errorf("argument --%s: expected one argument", o.name)
	}
	var err error
	kind := ""
	switch o.kind {
	case argInt:
		kind = "Integer"
		_, err = strconv.ParseInt(words[0], 10, 32)
	case argLong:
		kind = "Long"
		_, err = strconv.ParseInt(words[0], 10, 64)
	case argDouble:
		kind = "Double"
		_, err = strconv.ParseFloat(words[0], 64)
	}
	if err != nil {
		return fmt.Errorf("argument --%s: could not convert '%s' to %s (For input string: \"%s\")", o.name, words[0], kind, words[0])
	}
	if o.choices != nil && !slices.Contains(o.choices, words[0]) {
		return fmt.Errorf("argument --%s: invalid choice: '%s' (choose from {%s})", o.name, words[0], strings.Join(o.choices, ","))
	}
	return nil
}

func (o *argOption) words() string {
	switch o.kind {
	case argFlag:
		return "--" + o.name
	case argList:
		return "--" + o.name + " " + o.meta + " [" + o.meta + " ...]"
	}
	return "--" + o.name + " " + o.meta
}

// usage writes the short form.
func (s *argSet) usage(w io.Writer) {
	parts := []string{"[-h]"}
	var group []string
	for _, o := range s.options {
		switch {
		case o.group:
			group = append(group, o.words())
		case o.must:
			parts = append(parts, o.words())
		default:
			parts = append(parts, "["+o.words()+"]")
		}
	}
	for i, g := range group {
		if i == 0 {
			g = "(" + g
		}
		if i == len(group)-1 {
			g += ")"
		} else {
			g += " |"
		}
		parts = append(parts, g)
	}
	fmt.Fprintf(w, "usage: %s\n", s.prog)
	fill(w, "       ", parts)
}

// argWidth is how wide usage and help are.
const argWidth = 75

// fill writes words in lines that begin with indent.
func fill(w io.Writer, indent string, words []string) {
	line := ""
	for _, word := range words {
		if line != "" && len(indent)+len(line)+1+len(word) > argWidth {
			fmt.Fprintln(w, indent+line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, indent+line)
}

// helpTo writes the long form.
func (s *argSet) helpTo(w io.Writer) {
	s.usage(w)
	fmt.Fprintln(w)
	fill(w, "", strings.Fields(s.about))
	fmt.Fprintf(w, "\noptional arguments:\n  -h, --help             show this help message and exit\n")
	grouped := false
	for _, o := range s.options {
		if o.group && !grouped {
			grouped = true
			fmt.Fprintf(w, "\n  Exactly one of these is given:\n\n")
		}
		text := o.help
		if o.def != "" {
			text += " (default: " + strings.ReplaceAll(o.def, "\n", `\n`) + ")"
		}
		if head := "  " + o.words(); len(head) < 24 {
			fmt.Fprintf(w, "%-25s%s\n", head, text)
			continue
		}
		fmt.Fprintln(w, "  "+o.words())
		fill(w, strings.Repeat(" ", 25), strings.Fields(text))
	}
}
