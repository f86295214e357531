package kafkatool

import (
	"fmt"
	"strings"
	"time"
)

// javaDate is a pattern of Java's SimpleDateFormat, as much of it as a moment in time needs. Immutable.
type javaDate []datePart

type datePart struct {
	letter  byte // 0: text as it is
	n       int  // how often the letter stands there
	literal string
}

// parseJavaDate reads a pattern. A letter that is none of Java's, or one that is not supported here, is refused.
func parseJavaDate(pattern string) (javaDate, error) {
	var d javaDate
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			text, n := quoted(pattern[i:])
			if n == 0 {
				return nil, fmt.Errorf("Unterminated quote")
			}
			d, i = append(d, datePart{literal: text}), i+n
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if !strings.ContainsRune("yMdHhmsSaEzZXD", rune(c)) {
				return nil, fmt.Errorf("Illegal pattern character '%c'", c)
			}
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			d, i = append(d, datePart{letter: c, n: n}), i+n
		default:
			d, i = append(d, datePart{literal: pattern[i : i+1]}), i+1
		}
	}
	return d, nil
}

// quoted reads text in quotes, where two quotes mean one, and returns how long it was there; 0 where it does not end.
func quoted(s string) (text string, n int) {
	if strings.HasPrefix(s, "''") {
		return "'", 2
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '\'':
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			i++
		default:
			return b.String(), i + 1
		}
	}
	return "", 0
}

func (d javaDate) format(t time.Time) string {
	var b strings.Builder
	for _, p := range d {
		b.WriteString(p.format(t))
	}
	return b.String()
}

func (p datePart) format(t time.Time) string {
	number := func(n int) string { return fmt.Sprintf("%0*d", p.n, n) }
	switch p.letter {
	case 'y':
		if p.n == 2 {
			return fmt.Sprintf("%02d", t.Year()%100)
		}
		return number(t.Year())
	case 'M':
		switch {
		case p.n > 3:
			return t.Month().String()
		case p.n == 3:
			return t.Format("Jan")
		}
		return number(int(t.Month()))
	case 'd':
		return number(t.Day())
	case 'D':
		return number(t.YearDay())
	case 'H':
		return number(t.Hour())
	case 'h':
		return number((t.Hour()+11)%12 + 1)
	case 'm':
		return number(t.Minute())
	case 's':
		return number(t.Second())
	case 'S':
		return number(t.Nanosecond() / int(time.Millisecond))
	case 'a':
		return t.Format("PM")
	case 'E':
		if p.n > 3 {
			return t.Weekday().String()
		}
		return t.Format("Mon")
	case 'z':
		return t.Format("MST")
	case 'Z':
		return t.Format("-0700")
	case 'X':
		return t.Format([]string{"Z07", "Z0700", "Z07:00"}[min(p.n, 3)-1])
	}
	return p.literal
}
