package jopt

import (
	"io"
	"strings"
)

// The table is 80 columns wide, two of them between the columns.
const (
	leftMax  = 39
	rightMax = 39
)

// Usage writes the table of options.
func (s *Set) Usage(w io.Writer) {
	type row struct{ left, right string }
	options := s.sorted()
	rows := make([]row, 0, len(options))
	must := false
	for _, o := range options {
		rows = append(rows, row{o.left(), o.right()})
		must = must || o.Must
	}
	head := "Option"
	if must {
		head = "Option (* = required)"
	}
	line(w, head, "Description")
	line(w, strings.Repeat("-", len(head)), "-----------")
	for _, r := range rows {
		left, right := wrap(r.left, leftMax), wrap(r.right, rightMax)
		for i := range max(len(left), len(right)) {
			var a, b string
			if i < len(left) {
				a = left[i]
			}
			if i < len(right) {
				b = right[i]
			}
			line(w, a, b)
		}
	}
}

func line(w io.Writer, left, right string) {
	var b strings.Builder
	b.WriteString(left)
	for b.Len() < leftMax+2 {
		b.WriteByte(' ')
	}
	b.WriteString(right)
	_, _ = io.WriteString(w, strings.TrimRight(b.String(), " ")+"\n")
}

func (o *Option) left() string {
	var b strings.Builder
	if o.Must {
		b.WriteString("* ")
	}
	for i, n := range o.Names {
		if i > 0 {
			b.WriteString(", ")
		}
		if len(n) == 1 {
			b.WriteString("-" + n)
		} else {
			b.WriteString("--" + n)
		}
	}
	if o.Arg == NoArg {
		return b.String()
	}
	arg := o.Type.String()
	if o.ArgName != "" {
		arg += ": " + o.ArgName
	}
	if o.Arg == Optional {
		return b.String() + " [" + arg + "]"
	}
	return b.String() + " <" + arg + ">"
}

func (o *Option) right() string {
	if o.Default != "" && o.Arg != NoArg {
		return o.Help + " (default: " + o.Default + ")"
	}
	return o.Help
}

// wrap cuts text at spaces into lines of at most width columns; lines after the first are indented by two.
func wrap(text string, width int) []string {
	var lines []string
	cur := ""
	for _, word := range strings.Fields(text) {
		for len(word) > width-2 { // a word that fits no line
			if cur != "" {
				lines = append(lines, cur)
			}
			cur, word = "  "+word[:width-2], word[width-2:]
			lines, cur = append(lines, cur), ""
			word = "  " + word
		}
		switch {
		case cur == "":
			cur = word
		case len(cur)+1+len(word) <= width:
			cur += " " + word
		default:
			lines = append(lines, cur)
			cur = "  " + word
		}
	}
	return append(lines, cur)
}
