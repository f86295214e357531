package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Check is what a value must satisfy beyond its type. A test may tidy the
// value, as Kafka does with repeated words. Immutable once published.
type Check struct {
	allowed string
	test    func(*Value) error
}

func atLeast(low int64) *Check {
	return &Check{fmt.Sprintf("a whole number, at least %d", low), func(v *Value) error {
		if v.Int < low {
			return fmt.Errorf("%d is too small", v.Int)
		}
		return nil
	}}
}

// noneOrAtLeast takes 0, which switches something off, and numbers that make sense.
func noneOrAtLeast(low int64) *Check {
	return &Check{fmt.Sprintf("0 or a whole number, at least %d", low), func(v *Value) error {
		if v.Int != 0 && v.Int < low {
			return fmt.Errorf("%d is too small", v.Int)
		}
		return nil
	}}
}

func between(low, high int64) *Check {
	return &Check{fmt.Sprintf("a whole number from %d to %d", low, high), func(v *Value) error {
		if v.Int < low || v.Int > high {
			return fmt.Errorf("%d is out of range", v.Int)
		}
		return nil
	}}
}

// gzipLevel takes -1, the codec's own default, and 1 to 9.
var gzipLevel = &Check{"-1 or a whole number from 1 to 9", func(v *Value) error {
	if v.Int != -1 && (v.Int < 1 || v.Int > 9) {
		return fmt.Errorf("%d is out of range", v.Int)
	}
	return nil
}}

// fraction takes 0 to 1; not-a-number passes, as in Kafka.
var fraction = &Check{"a number from 0 to 1", func(v *Value) error {
	if v.Double < 0 || v.Double > 1 {
		return fmt.Errorf("%s is out of range", formatDouble(v.Double))
	}
	return nil
}}

func oneOf(words ...string) *Check {
	return &Check{"one of " + strings.Join(words, ", "), func(v *Value) error {
		if !slices.Contains(words, v.Text) {
			return fmt.Errorf("%q is not known", v.Text)
		}
		return nil
	}}
}

func oneOfFold(words ...string) *Check {
	return &Check{"one of " + strings.Join(words, ", ") + ", in any case", func(v *Value) error {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, v.Text) }) {
			return fmt.Errorf("%q is not known", v.Text)
		}
		return nil
	}}
}

// onlyFalse is for switches of what is not there.
var onlyFalse = &Check{"false", func(v *Value) error {
	if v.Bool {
		return fmt.Errorf("tiered storage is not switched on for this broker")
	}
	return nil
}}

var nonEmpty = &Check{"any text but the empty one", func(v *Value) error {
	if v.Text == "" {
		return fmt.Errorf("the value is empty")
	}
	return nil
}}

// distinct takes lists without empty or repeated elements.
var distinct = &Check{"a list without empty or repeated elements", testDistinct}

func testDistinct(v *Value) error {
	for i, e := range v.List {
		if e == "" {
			return fmt.Errorf("an element is empty")
		}
		if slices.Contains(v.List[:i], e) {
			return fmt.Errorf("%q stands there twice", e)
		}
	}
	return nil
}

// filled takes lists without empty elements.
var filled = &Check{"a list without empty elements", func(v *Value) error {
	if slices.Contains(v.List, "") {
		return fmt.Errorf("an element is empty")
	}
	return nil
}}

func eachOf(words ...string) *Check {
	return &Check{"a list of " + strings.Join(words, ", ") + ", each at most once", func(v *Value) error {
		if err := testDistinct(v); err != nil {
			return err
		}
		return testEach(v, words)
	}}
}

func testEach(v *Value, words []string) error {
	for _, e := range v.List {
		if !slices.Contains(words, e) {
			return fmt.Errorf("%q is not known", e)
		}
	}
	return nil
}

// cleanupPolicy is eachOf for topics, where repeated words are dropped.
var cleanupPolicy = &Check{"a list of compact, delete", func(v *Value) error {
	if slices.Contains(v.List, "") {
		return fmt.Errorf("an element is empty")
	}
	if err := testEach(v, []string{"compact", "delete"}); err != nil {
		return err
	}
	var once []string
	for _, e := range v.List {
		if !slices.Contains(once, e) {
			once = append(once, e)
		}
	}
	v.List = once
	return nil
}}

var throttledReplica = regexp.MustCompile(`^([0-9]+:[0-9]+)?$`)

var throttledReplicas = &Check{"*, or a list of PARTITION:BROKER", func(v *Value) error {
	if len(v.List) == 1 && v.List[0] == "*" {
		return nil
	}
	for _, e := range v.List {
		if !throttledReplica.MatchString(e) {
			return fmt.Errorf("%q is not PARTITION:BROKER", e)
		}
	}
	return nil
}}

// hostCounts takes HOST:COUNT pairs.
var hostCounts = &Check{"HOST:COUNT pairs with commas between them", func(v *Value) error {
	_, err := parseHostCounts(v.Text)
	return err
}}

// parseHostCounts reads HOST:COUNT pairs; a host may hold colons. The last of
// several counts for one host holds.
func parseHostCounts(text string) (map[string]int32, error) {
	counts := map[string]int32{}
	for _, e := range SplitList(text) {
		if e == "" {
			continue
		}
		i := strings.LastIndexByte(e, ':')
		if i < 1 || strings.ContainsAny(e[:i], "/ ") {
			return nil, fmt.Errorf("%q is not HOST:COUNT", e)
		}
		n, err := strconv.ParseInt(trim(e[i+1:]), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q has no count", e)
		}
		counts[strings.Trim(trim(e[:i]), "[]")] = int32(n)
	}
	return counts, nil
}

var protocolMap = &Check{"NAME:PROTOCOL pairs with commas between them, PROTOCOL one of " + strings.Join(protocols, ", "), func(v *Value) error {
	_, err := parseProtocolMap(v.Text)
	return err
}}

var listenerList = &Check{"a list of NAME://HOST:PORT", func(v *Value) error {
	_, err := parseEndpoints(v.List)
	return err
}}

var voterList = &Check{"a list of ID@HOST:PORT", func(v *Value) error {
	if err := testDistinct(v); err != nil {
		return err
	}
	_, err := parseVoters(v.List)
	return err
}}

var isoDuration = regexp.MustCompile(`^[+]?P(?:([0-9]+)D)?(T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:[.,][0-9]{0,9})?S)?)?$`)

// offsetReset takes what share groups start at.
var offsetReset = &Check{"latest, earliest or by_duration: and an ISO duration, such as by_duration:PT1H", func(v *Value) error {
	if v.Text == "latest" || v.Text == "earliest" {
		return nil
	}
	d, ok := strings.CutPrefix(v.Text, "by_duration:")
	d = strings.ToUpper(d)
	if !ok || !isoDuration.MatchString(d) || strings.HasSuffix(d, "T") || strings.HasSuffix(d, "P") {
		return fmt.Errorf("%q is not known", v.Text)
	}
	return nil
}}

var deadLetterTopic = &Check{"a topic name that does not begin with __", func(v *Value) error {
	if strings.HasPrefix(v.Text, "__") {
		return fmt.Errorf("%q begins with __", v.Text)
	}
	return nil
}}

var matchKeys = []string{"client_instance_id", "client_id", "client_software_name", "client_software_version", "client_source_address", "client_source_port"}

// clientMatch takes KEY=REGEX pairs, from KIP-714.
var clientMatch = &Check{"a list of KEY=REGEX, KEY one of " + strings.Join(matchKeys, ", "), func(v *Value) error {
	for _, e := range v.List {
		name, pattern, ok := strings.Cut(e, "=")
		if !ok || !slices.Contains(matchKeys, trim(name)) {
			return fmt.Errorf("%q is not KEY=REGEX with a known key", e)
		}
		if _, err := regexp.Compile(trim(pattern)); err != nil {
			return fmt.Errorf("%q is not a regular expression", pattern)
		}
	}
	return nil
}}
