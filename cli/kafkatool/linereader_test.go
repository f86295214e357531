package kafkatool

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"millrace/cli/conn"
)

func TestLinesAsJavaReadsThem(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                 nil,
		"a":                                {"a"},
		"a\n":                              {"a"},
		"a\n\nb":                           {"a", "", "b"},
		"a\r\nb\rc\n":                      {"a", "b", "c"},
		"a\r":                              {"a"},
		"a\r\r\nb":                         {"a", "", "b"},
		"\n":                               {""},
		strings.Repeat("x", 1<<20) + "\ny": {strings.Repeat("x", 1<<20), "y"},
	} {
		for _, chunk := range []int{1, 7, 1 << 20} {
			if len(in) > 1000 && chunk < 100 {
				continue
			}
			r := newLineReader(&chunks{in, chunk}, conn.Properties{})
			var got []string
			for {
				rec, err := r.next()
				if err != nil {
					t.Fatal(err)
				}
				if rec == nil {
					break
				}
				got = append(got, string(rec.Value))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%.40q in pieces of %d: %d lines %.60q, expected %d", in, chunk, len(got), got, len(want))
			}
		}
	}
}

// chunks is a reader that gives at most n bytes at a time, as a terminal or pipe may.
type chunks struct {
	text string
	n    int
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.n)], c.text)
	c.text = c.text[n:]
	return n, nil
}

func TestLineParts(t *testing.T) {
	p := conn.Properties{"parse.key": "true", "parse.headers": "true", "null.marker": "NIL"}
	r := newLineReader(strings.NewReader("a:1,b:NIL\tkey\tvalue\nNIL\tNIL\tNIL\nh:x\tk\t\n"), p)
	rec, err := r.next()
	if err != nil || string(rec.Key) != "key" || string(rec.Value) != "value" || len(rec.Headers) != 2 || string(rec.Headers[0].Value) != "1" || rec.Headers[1].Value != nil {
		t.Errorf("first: %+v, %v", rec, err)
	}
	if rec, err = r.next(); err != nil || rec.Key != nil || rec.Value != nil || rec.Headers != nil {
		t.Errorf("nulls: %+v, %v", rec, err)
	}
	if rec, err = r.next(); err != nil || string(rec.Key) != "k" || rec.Value == nil || len(rec.Value) != 0 {
		t.Errorf("an empty value is not null: %+v, %v", rec, err)
	}
	r = newLineReader(strings.NewReader("fine\tx\nbroken\n"), conn.Properties{"parse.key": "true"})
	if rec, err := r.next(); err != nil || rec == nil {
		t.Errorf("%v %v", rec, err)
	}
	if rec, err := r.next(); rec != nil || err == nil || err.Error() != "No key separator found on line number 2: 'broken'" {
		t.Errorf("a line without separator: %+v, %v", rec, err)
	}
}
