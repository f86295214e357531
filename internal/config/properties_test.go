package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseProperties(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Property
	}{
		{"separators", "a=1\nb:2\nc 3\nd\t4\ne = 5\nf : 6\ng  =  7  \nh", []Property{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {"d", "4", 4}, {"e", "5", 5}, {"f", "6", 6}, {"g", "7  ", 7}, {"h", "", 8}}},
		{"only the first separator", "a==1\nb:=2\nc = :3\nd  e=4", []Property{{"a", "=1", 1}, {"b", "=2", 2}, {"c", ":3", 3}, {"d", "e=4", 4}}},
		{"comments", "# one\n  ! two\n\n \t\f\na=1 # not one\n#c\\\nb=2", []Property{{"a", "1 # not one", 5}, {"b", "2", 7}}},
		{"lines that go on", "a=1\\\n   2\\\n\t3\nb=4\\\\\nc=5\\\\\\\n6", []Property{{"a", "123", 1}, {"b", `4\`, 4}, {"c", `5\6`, 5}}},
		{"a comment sign inside", "a=1\\\n#2\n", []Property{{"a", "1#2", 1}}},
		{"a key that goes on", "ab\\\n  cd = 1", []Property{{"abcd", "1", 1}}},
		{"line ends", "a=1\r\nb=2\rc=3\\\r\n4\n\rd=5", []Property{{"a", "1", 1}, {"b", "2", 2}, {"c", "34", 3}, {"d", "5", 6}}},
		{"escapes", `a=\t\n\r\f\\\=\:\#\!\q\u0041\u00e9\uD83D\uDE00`, []Property{{"a", "\t\n\r\f\\=:#!qAé😀", 1}}},
		{"escapes in keys", `a\ b\=c\:d=1`, []Property{{"a b=c:d", "1", 1}}},
		{"an empty key", "=1\n: 2", []Property{{"", "1", 1}, {"", "2", 2}}},
		{"the end", "a=1\\", []Property{{"a", "1", 1}}},
		{"repeated keys", "a=1\na=2", []Property{{"a", "1", 1}, {"a", "2", 2}}},
		{"UTF-8", "a=é", []Property{{"a", "é", 1}}},
		{"Latin-1", "a=\xe9", []Property{{"a", "é", 1}}},
		{"a byte order mark", "\ufeffa=1", []Property{{"a", "1", 1}}},
		{"a lone backslash", "\\\n#c\n\\\r\n\n a=1\n\\\n", []Property{{"a", "1", 5}}},
		{"nothing", "", nil},
	} {
		got, err := ParseProperties([]byte(c.text))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestMalformedProperties(t *testing.T) {
	for _, text := range []string{`a=\u12`, `a=\u12g4`, `\u=1`, "x=1\ny=2\nz=\\\n\\u00"} {
		_, err := ParseProperties([]byte(text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != 1+strings.Count(strings.SplitN(text, "z", 2)[0], "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzProperties checks that entries survive being written and read again.
func FuzzProperties(f *testing.F) {
	f.Add([]byte("a=1\\\n  2\n# c\nb : \\u0041"))
	f.Add([]byte("\\"))
	f.Add([]byte("a=\\\\\\\r\n!"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := ParseProperties(data)
		if err != nil {
			return
		}
		var text strings.Builder
		for _, e := range entries {
			escape(&text, e.Key)
			text.WriteByte('=')
			escape(&text, e.Value)
			text.WriteByte('\n')
		}
		again, err := ParseProperties([]byte(text.String()))
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%d entries, read again %d, %v", len(entries), len(again), err)
		}
		for i := range again {
			if again[i].Key != entries[i].Key || again[i].Value != entries[i].Value {
				t.Fatalf("%+v, read again %+v", entries[i], again[i])
			}
			if again[i].Line != i+1 || entries[i].Line < 1 {
				t.Fatalf("line %d and %d", again[i].Line, entries[i].Line)
			}
		}
	})
}

func escape(out *strings.Builder, s string) {
	for _, r := range s {
		switch r {
		case '\n':
			out.WriteString(`\n`)
		case '\r':
			out.WriteString(`\r`)
		case '\t':
			out.WriteString(`\t`)
		case '\f':
			out.WriteString(`\f`)
		case ' ', '=', ':', '#', '!', '\\':
			out.WriteByte('\\')
			fallthrough
		default:
			out.WriteRune(r)
		}
	}
}
