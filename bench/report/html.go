package report

import (
	_ "embed" // the page's template
	"html/template"
	"io"
)

//go:embed page.tmpl
var page string

var pageTemplate = template.Must(template.New("page").Parse(page))

// WriteHTML writes the page.
func WriteHTML(w io.Writer, in *Input) error {
	return pageTemplate.Execute(w, makeView(in))
}
