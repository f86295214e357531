package wire

import (
	"strconv"
	"strings"
)

// A schema is the shape of a request's body, enough to walk it without knowing
// what it means. schemas.go holds them as text, one field after another:
//
//	Name type [versions] [#tag]
//
// Types: i8 i16 u16 i32 i64 f64 bool id str bytes, [T] or [fields] for an
// array, (fields) for a struct. A ? behind a type makes it nullable, ?3+ from
// version 3 on. Versions read 3+ or 2-7. A field with a tag stands in the tag
// section of its struct.

type kind uint8

const (
	kindFixed kind = iota
	kindString
	kindBytes
	kindArray
	kindStruct
)

// never is a version that no request has.
const never = int16(0x7fff)

// field is one field of a schema. Immutable.
type field struct {
	name     string
	kind     kind
	size     int     // of a fixed field, in bytes
	from, to int16   // versions that have it
	nullable int16   // first version that may have null, or never
	tag      int     // -1 for a field in its place
	of       []field // fields of a struct or of an array's elements
}

// has says whether version has the field.
func (f *field) has(version int16) bool { return version >= f.from && version <= f.to }

// smallest is the least number of bytes that fields take at version.
func smallest(fields []field, version int16, flexible bool) int {
	n := 0
	if flexible {
		n = 1 // tags
	}
	for i := range fields {
		f := &fields[i]
		if f.tag >= 0 || !f.has(version) {
			continue
		}
		n += f.smallest(version, flexible)
	}
	return n
}

func (f *field) smallest(version int16, flexible bool) int {
	switch {
	case f.kind == kindFixed:
		return f.size
	case f.kind == kindStruct && f.nullable != never:
		return 1
	case f.kind == kindStruct:
		return smallest(f.of, version, flexible)
	case flexible:
		return 1
	case f.kind == kindString:
		return 2
	}
	return 4
}

// walker passes over a body. left bounds the array elements and tags of the
// whole body.
type walker struct {
	r        reader
	version  int16
	flexible bool
	left     int
}

// fields passes over the fields of a struct and its tags.
func (w *walker) fields(fields []field) {
	for i := range fields {
		if f := &fields[i]; f.tag < 0 && f.has(w.version) {
			w.field(f)
		}
	}
	if w.flexible {
		w.tags(fields)
	}
}

func (w *walker) field(f *field) {
	null := w.version >= f.nullable
	switch f.kind {
	case kindFixed:
		w.r.span(f.size)
	case kindString:
		if null {
			w.r.nullableString(w.flexible)
		} else {
			w.r.str(w.flexible)
		}
	case kindBytes:
		if b := w.r.nullableBytes(w.flexible); b == nil && !null {
			w.r.fail()
		}
	case kindArray:
		w.array(f, null)
	case kindStruct:
		if !null {
			w.fields(f.of)
			return
		}
		// Kafka takes any negative byte for null, kmsg takes -1 only.
		switch present := w.r.i8(); {
		case present >= 0:
			w.fields(f.of)
		case present != -1:
			w.r.fail()
		}
	}
}

func (w *walker) array(f *field, null bool) {
	// An array of plain values has one nameless field as its element.
	plain := len(f.of) == 1 && f.of[0].name == ""
	min := f.of[0].smallest(w.version, w.flexible)
	if !plain {
		min = smallest(f.of, w.version, w.flexible)
	}
	n := w.r.nullableCount(w.flexible, max(min, 1))
	if n < 0 {
		if !null {
			w.r.fail()
		}
		return
	}
	if !w.spend(n) {
		return
	}
	for ; n > 0 && !w.r.bad; n-- {
		if plain {
			w.field(&f.of[0])
		} else {
			w.fields(f.of)
		}
	}
}

// spend counts n elements.
func (w *walker) spend(n int) bool {
	w.left -= n
	if w.left < 0 {
		w.r.fail()
		return false
	}
	return true
}

// tags passes over a tag section. A known tag must be of this version and hold
// its field exactly.
func (w *walker) tags(fields []field) {
	n := w.r.tagCount()
	if !w.spend(n) {
		return
	}
	for ; n > 0 && !w.r.bad; n-- {
		number, content := w.r.tag()
		for i := range fields {
			f := &fields[i]
			if f.tag < 0 || uint32(f.tag) != number {
				continue
			}
			in := walker{r: reader{b: content}, version: w.version, flexible: true, left: w.left}
			if f.has(w.version) {
				in.field(f)
			} else {
				in.r.fail()
			}
			if in.r.bad || len(in.r.b) != 0 {
				w.r.fail()
			}
			w.left = in.left
		}
	}
}

// parseSchema reads the text of a schema. A mistake in the text is a mistake of
// this package, so it panics.
func parseSchema(text string) []field {
	p := schemaParser{text: text}
	fields := p.fields("")
	if p.text != "" {
		panic("wire: schema ends early: " + p.text)
	}
	return fields
}

type schemaParser struct{ text string }

// word takes letters, digits and signs up to a separator.
func (p *schemaParser) word() string {
	p.text = strings.TrimLeft(p.text, " ")
	n := strings.IndexAny(p.text, " ;[]()?#")
	if n < 0 {
		n = len(p.text)
	}
	w := p.text[:n]
	p.text = p.text[n:]
	return w
}

// take removes s from the front, if it is there.
func (p *schemaParser) take(s string) bool {
	p.text = strings.TrimLeft(p.text, " ")
	rest, ok := strings.CutPrefix(p.text, s)
	if ok {
		p.text = rest
	}
	return ok
}

// fields reads fields up to the closing sign.
func (p *schemaParser) fields(closing string) (fields []field) {
	for {
		if closing == "" && p.text == "" || closing != "" && p.take(closing) {
			return fields
		}
		f := field{name: p.word(), to: never - 1, nullable: never, tag: -1}
		p.kind(&f)
		p.suffix(&f)
		fields = append(fields, f)
		p.take(";")
	}
}

// fixedSizes are the types of a fixed length, in bytes.
var fixedSizes = map[string]int{"i8": 1, "bool": 1, "i16": 2, "u16": 2, "i32": 4, "i64": 8, "f64": 8, "id": 16}

func (p *schemaParser) kind(f *field) {
	switch {
	case p.take("("):
		f.kind, f.of = kindStruct, p.fields(")")
		return
	case p.take("["):
		f.kind = kindArray
		// [i32] has a type and nothing else, [Name i32...] has fields.
		inner := schemaParser{text: p.text}
		one := field{to: never - 1, nullable: never, tag: -1}
		if inner.simple(&one) && inner.take("]") {
			f.of, p.text = []field{one}, inner.text
			return
		}
		f.of = p.fields("]")
		return
	}
	if !p.simple(f) {
		panic("wire: schema: no type before " + p.text)
	}
}

// simple reads the name of a plain type.
func (p *schemaParser) simple(f *field) bool {
	switch w := p.word(); w {
	case "str":
		f.kind = kindString
	case "bytes":
		f.kind = kindBytes
	default:
		size, ok := fixedSizes[w]
		if !ok {
			return false
		}
		f.kind, f.size = kindFixed, size
	}
	return true
}

// suffix reads nullability, versions and tag.
func (p *schemaParser) suffix(f *field) {
	if rest, ok := strings.CutPrefix(p.text, "?"); ok {
		p.text, f.nullable = rest, 0
		if p.text != "" && p.text[0] >= '0' && p.text[0] <= '9' {
			f.nullable = number(strings.TrimSuffix(p.word(), "+"))
		}
	}
	p.text = strings.TrimLeft(p.text, " ")
	if p.text != "" && p.text[0] >= '0' && p.text[0] <= '9' {
		w := p.word()
		if from, ok := strings.CutSuffix(w, "+"); ok {
			f.from = number(from)
		} else {
			from, to, _ := strings.Cut(w, "-")
			f.from, f.to = number(from), number(to)
		}
	}
	if p.take("#") {
		f.tag = int(number(p.word()))
	}
}

func number(s string) int16 {
	n, err := strconv.ParseInt(s, 10, 16)
	if err != nil {
		panic("wire: schema: " + err.Error())
	}
	return int16(n)
}
