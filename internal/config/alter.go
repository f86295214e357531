package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// OpKind is what IncrementalAlterConfigs does with a key. The numbers are
// those of the protocol (KIP-339).
type OpKind int8

// The operations.
const (
	OpSet      OpKind = 0
	OpDelete   OpKind = 1
	OpAppend   OpKind = 2
	OpSubtract OpKind = 3
)

// Op is one operation. Value is nil where the request has null.
type Op struct {
	Kind  OpKind
	Name  string
	Value *string
}

// Pair is one config of AlterConfigs or CreateTopics.
type Pair struct {
	Name  string
	Value *string
}

// The error codes of AlterError, as Kafka numbers them.
const (
	codeUnknownServerError int16 = -1
	codeInvalidConfig      int16 = 40
	codeInvalidRequest     int16 = 42
)

// AlterError is the answer to a change that was refused: a Kafka error code
// and the text that goes with it.
type AlterError struct {
	Code    int16
	Message string
}

func (e *AlterError) Error() string { return e.Message }

func alterErrorf(code int16, format string, args ...any) *AlterError {
	return &AlterError{code, fmt.Sprintf(format, args...)}
}

// pairOps turns the pairs of AlterConfigs into operations on an empty Set.
func pairOps(pairs []Pair) []Op {
	ops := make([]Op, len(pairs))
	for i, p := range pairs {
		ops[i] = Op{OpSet, p.Name, p.Value}
	}
	return ops
}

// CheckShape refuses what no kind of resource takes; the Alter functions call it
// themselves. Kafka looks at this before it looks at the resource.
func CheckShape(ops []Op) *AlterError {
	seen := make(map[string]bool, len(ops))
	for _, op := range ops {
		if op.Kind != OpDelete && op.Value == nil {
			return alterErrorf(codeInvalidRequest, "%s: null is not a value; delete the key instead", op.Name)
		}
		if seen[op.Name] {
			return alterErrorf(codeInvalidRequest, "%s stands in the request twice", op.Name)
		}
		seen[op.Name] = true
	}
	return nil
}

// CheckOps refuses operations that do not exist or that the keys of a topic, a
// group or a client metrics subscription do not take. Kafka looks at this before
// it looks at the name of the resource.
func CheckOps(scope Scope, ops []Op) *AlterError {
	for _, op := range ops {
		if op.Kind < OpSet || op.Kind > OpSubtract {
			return alterErrorf(codeUnknownServerError, "%s: operation %d is not known", op.Name, op.Kind)
		}
	}
	for _, op := range ops {
		if op.Kind != OpAppend && op.Kind != OpSubtract {
			continue
		}
		if k, ok := Lookup(scope, op.Name); scope != Topic || !ok || k.Type != List {
			return errNoList(op.Name)
		}
	}
	return nil
}

func errNoList(name string) *AlterError {
	return alterErrorf(codeInvalidConfig, "%s is not a list: only lists can be appended to or subtracted from", name)
}

// change applies operations to a copy of current. base gives the list that
// APPEND and SUBTRACT start from where the key is not set, and false where the
// key is no list.
func change(current Set, ops []Op, base func(name string) ([]string, bool)) (Set, *AlterError) {
	next := maps.Clone(current)
	if next == nil {
		next = Set{}
	}
	for _, op := range ops {
		switch op.Kind {
		case OpSet:
			next[op.Name] = *op.Value
		case OpDelete:
			delete(next, op.Name)
		case OpAppend, OpSubtract:
			list, ok := base(op.Name)
			if !ok {
				return nil, errNoList(op.Name)
			}
			if text, set := next[op.Name]; set {
				list = slices.DeleteFunc(javaSplit(text), func(e string) bool { return e == "" })
			}
			next[op.Name] = strings.Join(combine(op.Kind, list, javaSplit(*op.Value)), ",")
		default:
			return nil, alterErrorf(codeUnknownServerError, "%s: operation %d is not known", op.Name, op.Kind)
		}
	}
	return next, nil
}

// javaSplit is Java's split at commas, as Kafka's controller uses it on both texts: nothing is trimmed, empty elements at the end
// are left out, and the empty text is one empty element.
func javaSplit(text string) []string {
	list := strings.Split(text, ",")
	for n := len(list); n > 0 && list[n-1] == "" && text != ""; n-- {
		list = list[:n-1]
	}
	return list
}

// combine appends the elements that are not in the list yet, or removes each of them once.
func combine(kind OpKind, list, elements []string) []string {
	list = slices.Clone(list)
	for _, e := range elements {
		at := slices.Index(list, e)
		switch {
		case kind == OpSubtract && at >= 0:
			list = slices.Delete(list, at, at+1)
		case kind == OpAppend && at < 0:
			list = append(list, e)
		}
	}
	return list
}

// listBase answers change for the keys of a table: a list that is not set starts from the default of its key, whatever stands in
// the property file, as in Kafka.
func listBase(scope Scope) func(string) ([]string, bool) {
	return func(name string) ([]string, bool) {
		k, ok := Lookup(scope, name)
		if !ok || k.Type != List {
			return nil, false
		}
		return k.DefaultValue().List, true
	}
}

// noLists answers change for resources without lists to append to.
func noLists(string) ([]string, bool) { return nil, false }
