package adminhttp

import (
	"html/template"
	"net/http"
)

// pages is what the index names, in the order in which an operator needs it.
var pages = []struct{ Path, What string }{
	{"/readyz", "200 where clients are served, else 503 with the reason"},
	{"/livez", "200 where the loops turn, else 503 with the reason"},
	{"/v1/cluster/health", "partitions without a leader or replicas, as JSON"},
	{"/metrics", "metrics as Prometheus text"},
	{"/debug/pprof/", "profiles of the process"},
}

var indexPage = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Millrace</title>
<h1>Millrace {{.Version}}</h1>
<p>This port is for operators; clients of Kafka connect to another one.</p>
<ul>
{{range .Pages}}<li><a href="{{.Path}}">{{.Path}}</a> {{.What}}</li>
{{end}}</ul>
</html>
`))

// index answers / with links to what else there is.
func index(version string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = indexPage.Execute(w, struct {
			Version string
			Pages   any
		}{version, pages})
	}
}
