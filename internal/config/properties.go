package config

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Property is one entry of a property file.
type Property struct {
	Key, Value string
	// Line is where the entry begins, counted from 1; 0 is an override.
	Line int
}

// SyntaxError is a line that no Java property file may hold.
type SyntaxError struct {
	Line    int
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// ParseProperties reads a Java property file: comments with # or !, keys that
// end at =, : or white space, lines that go on behind a backslash, the escapes
// \t \n \r \f, \u with four hexadecimal digits, and a backslash before any
// other character for that character. Bytes that are not UTF-8 are read as
// Latin-1. All entries are returned in their order, repeated keys as well.
func ParseProperties(data []byte) ([]Property, error) {
	text := string(data)
	if !utf8.Valid(data) {
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		text = string(runes)
	}
	p := propertyParser{rest: strings.TrimPrefix(text, "\ufeff")}
	var all []Property
	for {
		line, at, ok := p.logicalLine()
		if !ok {
			return all, nil
		}
		prop, err := parseProperty(line)
		if err != nil {
			return nil, &SyntaxError{at, err.Error()}
		}
		prop.Line = at
		all = append(all, prop)
	}
}

// propertyParser cuts a text into logical lines. Owned by one ParseProperties.
type propertyParser struct {
	rest string
	line int // lines taken so far
}

// natural takes one line without its end.
func (p *propertyParser) natural() (string, bool) {
	if p.rest == "" {
		return "", false
	}
	p.line++
	i := strings.IndexAny(p.rest, "\r\n")
	if i < 0 {
		line := p.rest
		p.rest = ""
		return line, true
	}
	line := p.rest[:i]
	if strings.HasPrefix(p.rest[i:], "\r\n") {
		i++
	}
	p.rest = p.rest[i+1:]
	return line, true
}

// logicalLine takes the next entry with all lines that belong to it, and the
// number of its first line. Blank lines and comments are passed over.
func (p *propertyParser) logicalLine() (string, int, bool) {
	for {
		line, ok := p.natural()
		if !ok {
			return "", 0, false
		}
		line = strings.TrimLeft(line, blanks)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		at := p.line
		if !continues(line) {
			return line, at, true
		}
		if line == `\` {
			continue // nothing yet: comments and blank lines may follow still
		}
		var whole strings.Builder
		for continues(line) {
			whole.WriteString(line[:len(line)-1])
			next, ok := p.natural()
			if !ok {
				line = ""
				break
			}
			line = strings.TrimLeft(next, blanks)
		}
		whole.WriteString(line)
		return whole.String(), at, true
	}
}

const blanks = " \t\f"

// continues tells whether a line ends in an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func parseProperty(line string) (Property, error) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if strings.IndexByte("=:"+blanks, line[i]) >= 0 {
			end = i
			break
		}
	}
	value := strings.TrimLeft(line[end:], blanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blanks)
	}
	key, err := unescape(line[:end])
	if err != nil {
		return Property{}, err
	}
	value, err = unescape(value)
	return Property{Key: key, Value: value}, err
}

func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			break
		}
		switch s[i] {
		case 't':
			out.WriteByte('\t')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			r, ok := hex4(s[i+1:])
			if !ok {
				return "", fmt.Errorf(`\u needs four hexadecimal digits behind it`)
			}
			i += 4
			if utf16.IsSurrogate(r) && strings.HasPrefix(s[i+1:], `\u`) {
				if low, ok := hex4(s[i+3:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
					r = utf16.DecodeRune(r, low)
					i += 6
				}
			}
			out.WriteRune(r)
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String(), nil
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || s[i] < '0' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}
