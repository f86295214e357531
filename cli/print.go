package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printer writes what a subcommand found, as text or as JSON. Owned by one run.
type printer struct {
	w    io.Writer
	json bool
}

// value writes v as JSON, or calls text.
func (p *printer) value(v any, text func() error) error {
	if !p.json {
		return text()
	}
	enc := json.NewEncoder(p.w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// table writes rows under a header, columns two spaces apart.
func (p *printer) table(header []any, rows [][]any) error {
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	write := func(cells []any) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			fmt.Fprint(tw, c)
		}
		fmt.Fprintln(tw)
	}
	write(header)
	for _, r := range rows {
		write(r)
	}
	return tw.Flush()
}

// counted is a number with its noun, in the plural unless it is one.
func counted[N int | int32 | int64](n N, noun string) string {
	switch {
	case n == 1:
		return fmt.Sprintf("1 %s", noun)
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
