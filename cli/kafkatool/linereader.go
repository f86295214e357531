package kafkatool

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

// lineReader makes records of lines: [headers, delimiter] [key, separator] value. Owned by one producer.
type lineReader struct {
	in     *bufio.Reader
	prompt func()
	line   int
	skipLF bool

	parseKey, parseHeaders, ignoreError              bool
	keySeparator, headersDelimiter                   []byte
	headersSeparator, headerKeySeparator, nullMarker []byte
	hasNull                                          bool
}

// lineError is a line that does not have the parts it should have.
type lineError struct{ text string }

func (l *lineError) Error() string { return l.text }

func lineReaderOf(e *Env, v *jopt.Values) (*lineReader, error) {
	p := conn.Properties{}
	if err := p.LoadFile(v.Str("reader-config")); err != nil {
		return nil, err
	}
	for _, o := range []string{"property", "reader-property"} {
		for _, pair := range v.All(o) {
			if err := p.Set(pair); err != nil {
				return nil, err
			}
		}
	}
	r := newLineReader(newInterruptible(e.Ctx, e.In), p)
	if e.InIsTerm {
		r.prompt = func() { fmt.Fprint(e.Out, ">"); _ = e.Out.Flush() }
	}
	if name := v.Str("line-reader"); name != "org.apache.kafka.tools.LineMessageReader" && name != "kafka.tools.ConsoleProducer$LineMessageReader" {
		return nil, fmt.Errorf("line reader %s is a Java class, only lines are read here", name)
	}
	for _, sep := range [][]byte{r.keySeparator, r.headersDelimiter, r.headersSeparator, r.headerKeySeparator} {
		if len(sep) == 0 {
			return nil, &lineError{"a separator must not be empty"}
		}
	}
	return r, nil
}

func newLineReader(in io.Reader, p conn.Properties) *lineReader {
	get := func(name, none string) []byte {
		if v, ok := p[name]; ok {
			return []byte(v)
		}
		return []byte(none)
	}
	_, hasNull := p["null.marker"]
	return &lineReader{
		in:       bufio.NewReaderSize(in, 256<<10),
		parseKey: p.Bool("parse.key", false), parseHeaders: p.Bool("parse.headers", false), ignoreError: p.Bool("ignore.error", false),
		keySeparator: get("key.separator", "\t"), headersDelimiter: get("headers.delimiter", "\t"),
		headersSeparator: get("headers.separator", ","), headerKeySeparator: get("headers.key.separator", ":"),
		nullMarker: get("null.marker", ""), hasNull: hasNull,
	}
}

// readLine is Java's: \n, \r\n and \r end a line, and so does the end of the input.
func (r *lineReader) readLine() ([]byte, error) {
	var line []byte
	for {
		first, err := r.in.Peek(1)
		if err == nil && r.skipLF && first[0] == '\n' {
			_, _ = r.in.Discard(1)
			r.skipLF = false
			continue
		}
		r.skipLF = false
		if err != nil {
			if err == io.EOF && len(line) > 0 {
				return line, nil
			}
			return nil, err
		}
		chunk, _ := r.in.Peek(r.in.Buffered())
		i := bytes.IndexAny(chunk, "\r\n")
		if i < 0 {
			line = append(line, chunk...)
			_, _ = r.in.Discard(len(chunk))
			continue
		}
		line = append(line, chunk[:i]...)
		cr := chunk[i] == '\r'
		_, _ = r.in.Discard(i + 1)
		r.skipLF = cr // a line feed right behind belongs to it, whenever it comes
		return line, nil
	}
}

// next returns the next record, nil at the end of the input or before the first line that is wrong.
func (r *lineReader) next() (*kgo.Record, error) {
	if r.prompt != nil {
		r.prompt()
	}
	line, err := r.readLine()
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.line++
	rec := &kgo.Record{}
	rest := line
	if r.parseHeaders {
		var head []byte
		var found bool
		if head, rest, found, err = r.cut(rest, r.headersDelimiter, "headers delimiter", line); err != nil {
			return nil, err
		}
		if found && !r.isNull(head) {
			if rec.Headers, err = r.headers(head); err != nil {
				return nil, err
			}
		}
	}
	if r.parseKey {
		var key []byte
		var found bool
		if key, rest, found, err = r.cut(rest, r.keySeparator, "key separator", line); err != nil {
			return nil, err
		}
		if found && !r.isNull(key) {
			rec.Key = append([]byte{}, key...)
		}
	}
	if !r.isNull(rest) {
		rec.Value = append([]byte{}, rest...)
	}
	return rec, nil
}

func (r *lineReader) isNull(b []byte) bool { return r.hasNull && bytes.Equal(b, r.nullMarker) }

func (r *lineReader) cut(b, sep []byte, name string, line []byte) (before, after []byte, found bool, err error) {
	before, after, found = bytes.Cut(b, sep)
	if found {
		return before, after, true, nil
	}
	if r.ignoreError {
		return nil, b, false, nil
	}
	return nil, nil, false, &lineError{fmt.Sprintf("No %s found on line number %d: '%s'", name, r.line, line)}
}

func (r *lineReader) headers(head []byte) ([]kgo.RecordHeader, error) {
	var out []kgo.RecordHeader
	for _, pair := range bytes.Split(head, r.headersSeparator) {
		key, value, ok := bytes.Cut(pair, r.headerKeySeparator)
		switch {
		case !ok && r.ignoreError:
			out = append(out, kgo.RecordHeader{Key: string(pair)})
			continue
		case !ok:
			return nil, &lineError{fmt.Sprintf("No header key separator found in pair '%s' on line number %d", pair, r.line)}
		case r.isNull(key):
			return nil, &lineError{fmt.Sprintf("Header keys should not be equal to the null marker '%s' as they can't be null", r.nullMarker)}
		}
		h := kgo.RecordHeader{Key: string(key)}
		if !r.isNull(value) {
			h.Value = append([]byte{}, value...)
		}
		out = append(out, h)
	}
	return out, nil
}
