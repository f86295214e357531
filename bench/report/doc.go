// Package report turns the JSON of campaigns and of model sweeps into one self-contained page (HTML with inline SVG, no script, no
// address of anything outside) and into Markdown for the docs.
//
// It computes nothing that the JSON does not hold, but for one thing: the latency curves are of the histograms of all counted
// runs joined, never of averaged percentiles. What failed is shown as failed.
//
// Files: load.go (reading files of either kind), view.go (what the page shows), curves.go (histograms), chart.go (SVG), html.go and
// page.tmpl (the page), markdown.go.
package report
