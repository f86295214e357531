package jopt

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUsage is wrapped by every error about a command line.
var ErrUsage = errors.New("usage")

// Error is a mistake in a command line, with the words users know.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

// Unwrap makes errors.Is(err, ErrUsage) hold.
func (e *Error) Unwrap() error { return ErrUsage }

func fail(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Parse reads args. Words that are no options are kept in order.
func (s *Set) Parse(args []string) (*Values, error) {
	v := &Values{set: s, got: map[*Option][]string{}, seen: map[*Option]bool{}}
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			v.rest = append(v.rest, args[i+1:]...)
			break
		}
		if !s.looksLikeOption(word) {
			v.rest = append(v.rest, word)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimLeft(word, "-"), "=")
		o := s.byName[name]
		if o == nil {
			return nil, fail("%s is not a recognized option", name)
		}
		v.seen[o] = true
		v.used = append(v.used, name)
		switch {
		case o.Arg == NoArg && inline && value != "":
			return nil, fail("Option %s does not take an argument", name) // Kafka's parser calls it an unrecognized option
		case o.Arg == NoArg:
		case inline:
			v.got[o] = append(v.got[o], value)
		case i+1 < len(args) && !s.isOption(args[i+1]):
			i++
			v.got[o] = append(v.got[o], args[i])
		case o.Arg == Required:
			return nil, fail("Option %s requires an argument", o.label())
		}
	}
	return v, nil
}

func (o *Option) label() string {
	if len(o.Names) == 1 {
		return o.Names[0]
	}
	return "[" + strings.Join(o.Names, ", ") + "]"
}

func (s *Set) looksLikeOption(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	if strings.HasPrefix(word, "--") {
		return true
	}
	return s.isOption(word)
}

// isOption reports whether a word names a declared option, so that it is no argument of the one before. An undeclared word with two dashes is
// taken as an option too, which gives the better message; a negative number is not.
func (s *Set) isOption(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	if len(word) > 2 && strings.HasPrefix(word, "--") {
		return true
	}
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return s.byName[name] != nil
}
