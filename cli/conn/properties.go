package conn

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"millrace/internal/config"
)

// Properties are client properties under Kafka's names. Owned by the tool that built them.
type Properties map[string]string

// LoadFile adds the properties of a file; "" is no file.
func (p Properties) LoadFile(path string) error {
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	list, err := config.ParseProperties(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, e := range list {
		p[e.Key] = e.Value
	}
	return nil
}

// Set adds one "name=value"; a word without "=" is refused.
func (p Properties) Set(pair string) error {
	name, value, ok := strings.Cut(pair, "=")
	if !ok || name == "" {
		return fmt.Errorf("Invalid command line properties: %s", pair)
	}
	p[name] = value
	return nil
}

// Default sets a property unless it is there.
func (p Properties) Default(name, value string) {
	if _, ok := p[name]; !ok {
		p[name] = value
	}
}

// Millis returns a property in milliseconds, or none.
func (p Properties) Millis(name string, none time.Duration) (time.Duration, error) {
	n, err := p.Int(name, int64(none/time.Millisecond))
	return time.Duration(n) * time.Millisecond, err
}

// Int returns a whole number, or none.
func (p Properties) Int(name string, none int64) (int64, error) {
	text, ok := p[name]
	if !ok {
		return none, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("Invalid value %s for configuration %s: Not a number", text, name)
	}
	return n, nil
}

// Bool returns a truth value, or none.
func (p Properties) Bool(name string, none bool) bool {
	text, ok := p[name]
	if !ok {
		return none
	}
	return strings.EqualFold(strings.TrimSpace(text), "true")
}
