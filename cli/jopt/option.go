package jopt

import "slices"

// ArgKind says whether an option takes an argument.
type ArgKind uint8

// The kinds of arguments.
const (
	NoArg ArgKind = iota
	Required
	Optional
)

// Type is the type that usage names and Parse checks.
type Type uint8

// The types of arguments.
const (
	String Type = iota
	Integer
	Long
)

func (t Type) String() string { return [...]string{"String", "Integer", "Long"}[t] }

// Option is one declared option. Immutable.
type Option struct {
	Names   []string // without dashes; the first one is what messages call it
	Arg     ArgKind
	Type    Type
	ArgName string // what usage calls the argument
	Help    string
	Must    bool   // a required option
	Default string // told by usage, and returned by Values.Get when the option is absent
	Hidden  bool   // an option of older versions that usage does not list
}

// Set is the options of one tool. Immutable once declared.
type Set struct {
	list   []*Option
	byName map[string]*Option
}

// New is an empty set.
func New() *Set { return &Set{byName: map[string]*Option{}} }

// Add declares options.
func (s *Set) Add(options ...Option) *Set {
	for i := range options {
		o := &options[i]
		s.list = append(s.list, o)
		for _, n := range o.Names {
			s.byName[n] = o
		}
	}
	return s
}

// Flag declares an option without argument.
func (s *Set) Flag(name, help string) *Set { return s.Add(Option{Names: []string{name}, Help: help}) }

// Str declares an option with a string argument.
func (s *Set) Str(name, arg, help string) *Set {
	return s.Add(Option{Names: []string{name}, Arg: Required, ArgName: arg, Help: help})
}

// Int declares an option with an integer argument.
func (s *Set) Int(name, arg, help string) *Set {
	return s.Add(Option{Names: []string{name}, Arg: Required, Type: Integer, ArgName: arg, Help: help})
}

// Long declares an option with a 64-bit argument.
func (s *Set) Long(name, arg, help string) *Set {
	return s.Add(Option{Names: []string{name}, Arg: Required, Type: Long, ArgName: arg, Help: help})
}

// Default gives the option declared last a default.
func (s *Set) Default(value string) *Set {
	s.list[len(s.list)-1].Default = value
	return s
}

// Must makes the option declared last a required one.
func (s *Set) Must() *Set {
	s.list[len(s.list)-1].Must = true
	return s
}

// Old declares names of earlier versions that are read but not listed.
func (s *Set) Old(arg ArgKind, names ...string) *Set {
	for _, n := range names {
		s.Add(Option{Names: []string{n}, Arg: arg, Hidden: true})
	}
	return s
}

func (s *Set) sorted() []*Option {
	var out []*Option
	for _, o := range s.list {
		if !o.Hidden {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b *Option) int {
		if a.Names[0] < b.Names[0] {
			return -1
		}
		return 1
	})
	return out
}

// Has reports whether an option of that name is declared.
func (s *Set) Has(name string) bool { return s.byName[name] != nil }
