package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

type point struct{ x, y float64 }

// series is a named line or cloud of a chart.
type series struct {
	name   string
	points []point
}

// chart is an SVG under construction.
type chart struct {
	title, xName, yName string
	logX, logY          bool
	quantileX           bool // x is a percentile, drawn so that each further nine takes the same room
	dots, diagonal      bool
	fromZero            bool
	series              []series
}

const (
	chartW, chartH                 = 620, 300
	padL, padR, padT, padB         = 64, 24, 30, 44
	colours                        = 8
	legendLine                     = 15
	plotW, plotH                   = chartW - padL - padR, chartH - padT - padB
	pixel                          = "%.1f"
	nineTop                float64 = 99.999
)

func (c *chart) fx(v float64) float64 {
	switch {
	case c.quantileX:
		return -math.Log10(1 - min(v, nineTop)/100)
	case c.logX:
		return math.Log10(max(v, 1e-9))
	}
	return v
}

func (c *chart) fy(v float64) float64 {
	if c.logY {
		return math.Log10(max(v, 1e-9))
	}
	return v
}

// span is the range of all points, in drawn units.
func (c *chart) span() (x0, x1, y0, y1 float64) {
	x0, y0, x1, y1 = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, s := range c.series {
		for _, p := range s.points {
			x, y := c.fx(p.x), c.fy(p.y)
			x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
		}
	}
	if c.fromZero {
		y0 = min(y0, 0)
	}
	if c.diagonal {
		x0, y0 = min(x0, y0), min(x0, y0)
		x1, y1 = max(x1, y1), max(x1, y1)
	}
	if c.dots {
		dx, dy := (x1-x0)*0.04, (y1-y0)*0.04
		x0, x1, y0, y1 = x0-dx, x1+dx, y0-dy, y1+dy
	}
	if x1-x0 < 1e-9 {
		x1 = x0 + 1
	}
	if y1-y0 < 1e-9 {
		y1 = y0 + 1
	}
	if !c.diagonal {
		y1 += (y1 - y0) * 0.05
	}
	return x0, x1, y0, y1
}

// ticks are values, not drawn units.
func ticks(lo, hi float64, log bool) []float64 {
	var out []float64
	if log {
		for e := math.Floor(lo); e <= hi+1e-9; e++ {
			for _, m := range []float64{1, 2, 5} {
				if v := m * math.Pow(10, e); math.Log10(v) >= lo-1e-9 && math.Log10(v) <= hi+1e-9 && (m == 1 || hi-lo < 2) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*m) <= 6 {
			step *= m
			break
		}
	}
	for v := math.Ceil(lo/step-1e-9) * step; v <= hi+step*1e-9; v += step {
		out = append(out, v)
	}
	return out
}

func (c *chart) svg() template.HTML {
	if len(c.series) == 0 {
		return ""
	}
	x0, x1, y0, y1 := c.span()
	px := func(v float64) float64 { return padL + (c.fx(v)-x0)/(x1-x0)*plotW }
	py := func(v float64) float64 { return padT + plotH - (c.fy(v)-y0)/(y1-y0)*plotH }
	rows := (len(c.series) + 2) / 3
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartW, chartH+rows*legendLine, html.EscapeString(c.title))
	fmt.Fprintf(&b, `<text class="t" x="%d" y="16">%s</text>`, padL, html.EscapeString(c.title))
	xs := ticks(x0, x1, c.logX)
	if c.quantileX {
		xs = []float64{0, 50, 90, 99, 99.9, 99.99, 99.999}
	}
	for _, v := range xs {
		if c.quantileX && c.fx(v) > x1+1e-9 {
			continue
		}
		label := short(v)
		if c.quantileX {
			label = fmt.Sprintf("%g", v)
		}
		fmt.Fprintf(&b, `<line class="g" x1="`+pixel+`" x2="`+pixel+`" y1="%d" y2="%d"/><text class="a" x="`+pixel+`" y="%d" text-anchor="middle">%s</text>`, px(v), px(v), padT, padT+plotH, px(v), padT+plotH+15, label)
	}
	for _, v := range ticks(y0, y1, c.logY) {
		fmt.Fprintf(&b, `<line class="g" x1="%d" x2="%d" y1="`+pixel+`" y2="`+pixel+`"/><text class="a" x="%d" y="`+pixel+`" text-anchor="end">%s</text>`, padL, padL+plotW, py(v), py(v), padL-6, py(v)+4, short(v))
	}
	fmt.Fprintf(&b, `<text class="a" x="%d" y="%d" text-anchor="middle">%s</text>`, padL+plotW/2, padT+plotH+32, html.EscapeString(c.xName))
	fmt.Fprintf(&b, `<text class="a" transform="translate(12 %d) rotate(-90)" text-anchor="middle">%s</text>`, padT+plotH/2, html.EscapeString(c.yName))
	if c.diagonal {
		for _, f := range []float64{0.8, 1, 1.2} { // in log scale: parallel lines
			lo, hi := math.Pow(10, x0), math.Pow(10, x1)
			from, to := max(lo, lo/f), min(hi, hi/f)
			class := "d"
			if f == 1 {
				class = "d1"
			}
			fmt.Fprintf(&b, `<line class="%s" x1="`+pixel+`" y1="`+pixel+`" x2="`+pixel+`" y2="`+pixel+`"/>`, class, px(from), py(from*f), px(to), py(to*f))
		}
	}
	for n, s := range c.series {
		k := n % colours
		if c.dots {
			for _, p := range s.points {
				fmt.Fprintf(&b, `<circle class="f%d" cx="`+pixel+`" cy="`+pixel+`" r="3.5"/>`, k, px(p.x), py(p.y))
			}
		} else {
			var d strings.Builder
			for i, p := range s.points {
				op := 'L'
				if i == 0 {
					op = 'M'
				}
				fmt.Fprintf(&d, "%c"+pixel+" "+pixel, op, px(p.x), py(p.y))
			}
			dash := ""
			if strings.HasPrefix(s.name, "floor-") {
				dash = " dash"
			}
			fmt.Fprintf(&b, `<path class="s%d%s" d="%s"/>`, k, dash, d.String())
		}
		lx, ly := padL+n%3*(plotW/3), chartH+n/3*legendLine+2
		fmt.Fprintf(&b, `<rect class="f%d" x="%d" y="%d" width="10" height="10"/><text class="a" x="%d" y="%d">%s</text>`, k, lx, ly-8, lx+14, ly+1, html.EscapeString(s.name))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // all names are escaped above
}

// short prints a number for an axis.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e9:
		return fmt.Sprintf("%gG", round(v/1e9))
	case a >= 1e6:
		return fmt.Sprintf("%gM", round(v/1e6))
	case a >= 1e4:
		return fmt.Sprintf("%gk", round(v/1e3))
	}
	return fmt.Sprintf("%g", round(v))
}

func round(v float64) float64 { return math.Round(v*1000)/1000 + 0 } // no negative zero

// bar is one share of a stacked bar.
type bar struct {
	name     string
	fraction float64
}

// stack draws one bar of shares, greatest first, with names where there is room.
func stack(bars []bar, colour map[string]int) template.HTML {
	var b strings.Builder
	const w, h = 1000, 26
	fmt.Fprintf(&b, `<svg class="stack" viewBox="0 0 %d %d" role="img" aria-label="shares of CPU time">`, w, h)
	x := 0.0
	for _, s := range bars {
		width := s.fraction * w
		fmt.Fprintf(&b, `<rect class="f%d" x="`+pixel+`" y="0" width="`+pixel+`" height="%d"><title>%s %.1f %%</title></rect>`, colour[s.name]%colours, x, max(0, width-1), h, html.EscapeString(s.name), s.fraction*100)
		if label := fmt.Sprintf("%s %.0f %%", s.name, s.fraction*100); width > float64(len(label))*6.6 {
			fmt.Fprintf(&b, `<text class="on" x="`+pixel+`" y="17">%s</text>`, x+5, html.EscapeString(label))
		}
		x += width
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // names are escaped
}
