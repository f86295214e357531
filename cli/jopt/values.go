package jopt

import "strconv"

// Values is what a command line said. Owned by the call that parsed it.
type Values struct {
	set  *Set
	got  map[*Option][]string
	seen map[*Option]bool
	used []string
	rest []string
}

// Has reports whether the option was given.
func (v *Values) Has(name string) bool { return v.seen[v.set.byName[name]] }

// HasAny reports whether one of the options was given.
func (v *Values) HasAny(names ...string) bool {
	for _, n := range names {
		if v.Has(n) {
			return true
		}
	}
	return false
}

// Names returns the options in the order given, as they were spelled.
func (v *Values) Names() []string { return v.used }

// Rest returns the words that are no options.
func (v *Values) Rest() []string { return v.rest }

// All returns every argument of the option, or its default.
func (v *Values) All(name string) []string {
	o := v.set.byName[name]
	if a := v.got[o]; len(a) > 0 {
		return a
	}
	if o != nil && o.Default != "" {
		return []string{o.Default}
	}
	return nil
}

// Get returns the argument of an option that may be given once, "" if it was not.
func (v *Values) Get(name string) (string, error) {
	a := v.All(name)
	switch len(a) {
	case 0:
		return "", nil
	case 1:
		return a[0], nil
	}
	return "", fail("Found multiple arguments for option %s, but you asked for only one", v.set.byName[name].label())
}

// Str is Get for options whose repetition has been ruled out or does not matter: the last one counts.
func (v *Values) Str(name string) string {
	a := v.All(name)
	if len(a) == 0 {
		return ""
	}
	return a[len(a)-1]
}

// Int64 returns a numeric argument, or none where the option was not given.
func (v *Values) Int64(name string, none int64) (int64, error) {
	text, err := v.Get(name)
	if err != nil || text == "" && !v.Has(name) {
		return none, err
	}
	bits := 32
	if v.set.byName[name].Type == Long {
		bits = 64
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, fail("Cannot parse argument '%s' of option %s", text, v.set.byName[name].label())
	}
	return n, nil
}

// MissingRequired names the required options that were not given.
func (s *Set) MissingRequired(v *Values) []string {
	var out []string
	for _, o := range s.list {
		if o.Must && !v.seen[o] {
			out = append(out, o.Names[0])
		}
	}
	return out
}
