package report

import (
	_ "embed" // the page's template
	"html/template"
	"io"
	"strings"
)

//go:embed page.tmpl
var page string

var pageTemplate = template.Must(template.New("page").Parse(page))

// WriteHTML writes the page.
func WriteHTML(w io.Writer, in *Input) error {
	v := makeView(in)
	for _, sec := range v.Sections {
		for _, t := range sec.Tables {
			for _, r := range t.Rows {
				for i, cell := range r.Cells {
					r.Cells[i] = marks.Replace(cell)
				}
			}
		}
	}
	return pageTemplate.Execute(w, v)
}

// marks are what Markdown sets words off with.
var marks = strings.NewReplacer("**", "", "`", "")
