package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the tables, for the docs; charts are the page's.
func WriteMarkdown(w io.Writer, in *Input) error {
	v := makeView(in)
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\n", v.Title)
	for _, f := range v.Facts {
		fmt.Fprintf(b, "%s\n\n", f)
	}
	if len(v.Commands) > 0 {
		fmt.Fprintf(b, "```\n%s\n```\n", strings.Join(v.Commands, "\n"))
	}
	for _, s := range v.Sections {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", s.Title, s.Note)
		for _, t := range s.Tables {
			if t.Caption != "" {
				fmt.Fprintf(b, "\n**%s**\n", t.Caption)
			}
			b.WriteByte('\n')
			markdownTable(b, t)
		}
		if len(s.After) > 0 {
			b.WriteByte('\n')
		}
		for _, line := range s.After {
			fmt.Fprintf(b, "- %s\n", line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, t table) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(t.Head, " | "), strings.Repeat(" --- |", len(t.Head)))
	for _, r := range t.Rows {
		cells := make([]string, len(r.Cells))
		for i, c := range r.Cells {
			cells[i] = strings.ReplaceAll(c, "|", "\\|")
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}
