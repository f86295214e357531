package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Value is a parsed value. Which field counts is told by Type; the zero Value
// of a type is a legal one.
type Value struct {
	Type Type
	Null bool
	Bool bool
	// Int is the number of Short, Int and Long.
	Int    int64
	Double float64
	// Text is that of String, Class and Password, without the space around it.
	Text string
	List []string
}

// Parse reads a value as Kafka does: space around it is dropped, numbers may
// carry a sign and leading zeros, booleans are true or false in any case,
// lists are cut at commas. The error says what is allowed.
func (k *Key) Parse(text string) (Value, error) {
	v, err := parse(k.Type, text)
	if err != nil {
		return Value{}, fmt.Errorf("%s: %w; allowed: %s", k.Name, err, k.Allowed())
	}
	if k.check != nil {
		if err := k.check.test(&v); err != nil {
			return Value{}, fmt.Errorf("%s: %w; allowed: %s", k.Name, err, k.Allowed())
		}
	}
	return v, nil
}

// DefaultValue is the parsed default; Null where there is none. Its list is
// shared: callers must not change it.
func (k *Key) DefaultValue() Value { return k.parsed }

func parse(t Type, text string) (Value, error) {
	trimmed := trim(text)
	v := Value{Type: t}
	var err error
	switch t {
	case Boolean:
		switch {
		case strings.EqualFold(trimmed, "true"):
			v.Bool = true
		case !strings.EqualFold(trimmed, "false"):
			err = fmt.Errorf("%q is neither true nor false", text)
		}
	case Short:
		v.Int, err = parseWhole(trimmed, 16)
	case Int:
		v.Int, err = parseWhole(trimmed, 32)
	case Long:
		v.Int, err = parseWhole(trimmed, 64)
	case Double:
		v.Double, err = parseDouble(trimmed)
	case List:
		v.List = SplitList(trimmed)
	default:
		v.Text = trimmed
	}
	return v, err
}

// trim drops what Java's String.trim drops: everything up to the blank.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

// SplitList cuts a list at its commas, as Kafka does: space around elements is
// dropped, an empty text is the empty list, and empty elements stay.
func SplitList(text string) []string {
	text = trim(text)
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i, p := range parts {
		parts[i] = strings.TrimFunc(p, func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' })
	}
	return parts
}

// parseWhole reads a whole number of the given width with an optional sign.
// Decimal digits of any script count, as in Java.
func parseWhole(s string, bits int) (int64, error) {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	negative := s[0] == '-'
	low := int64(-1) << (bits - 1)
	var n int64 // counted downwards, so that the lowest number fits
	for _, r := range digits {
		d, ok := digit(r)
		if !ok {
			return 0, fmt.Errorf("%q is not a whole number", s)
		}
		if n < (low+d)/10 {
			return 0, fmt.Errorf("%s does not fit into %d bits", s, bits)
		}
		n = n*10 - d
	}
	if negative {
		return n, nil
	}
	if n == low {
		return 0, fmt.Errorf("%s does not fit into %d bits", s, bits)
	}
	return -n, nil
}

func digit(r rune) (int64, bool) {
	if r < 0x80 {
		return int64(r - '0'), r >= '0' && r <= '9'
	}
	for _, block := range unicode.Nd.R16 {
		if uint16(r) >= block.Lo && uint16(r) <= block.Hi && r <= 0xffff {
			return int64(uint16(r)-block.Lo) % 10, true
		}
	}
	return 0, false
}

func parseDouble(s string) (float64, error) {
	notANumber := fmt.Errorf("%q is not a number", s)
	body := strings.TrimLeft(s, "+-")
	if len(s)-len(body) > 1 {
		return 0, notANumber
	}
	switch body {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1 - 2*strings.Count(s, "-")), nil
	}
	hex := strings.HasPrefix(body, "0x") || strings.HasPrefix(body, "0X")
	if n := len(body); n > 1 && strings.ContainsRune("fFdD", rune(body[n-1])) && (!hex || strings.ContainsAny(body, "pP")) {
		s, body = s[:len(s)-1], body[:n-1]
	}
	if body == "" || strings.Contains(body, "_") || strings.ContainsAny(body[:1], "nNiI") {
		return 0, notANumber
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, notANumber
	}
	return f, nil
}

// String prints the value as Kafka describes it; null prints as nothing.
func (v Value) String() string {
	if v.Null {
		return ""
	}
	switch v.Type {
	case Boolean:
		return strconv.FormatBool(v.Bool)
	case Short, Int, Long:
		return strconv.FormatInt(v.Int, 10)
	case Double:
		return formatDouble(v.Double)
	case List:
		return strings.Join(v.List, ",")
	}
	return v.Text
}

// formatDouble prints like Java: plain between 0.001 and 10^7, with an
// exponent outside, always with a digit behind the point.
func formatDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); f == 0 || a >= 1e-3 && a < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}

func (t Type) allowed() string {
	switch t {
	case Boolean:
		return "true or false"
	case Short:
		return "a whole number of 16 bits"
	case Int:
		return "a whole number of 32 bits"
	case Long:
		return "a whole number of 64 bits"
	case Double:
		return "a number"
	case List:
		return "a list with commas between its elements"
	}
	return "any text"
}
