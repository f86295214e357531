package metric

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// WriteText writes all families in the Prometheus text format (version 0.0.4).
func (r *Registry) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, f := range r.Gather() {
		b.WriteString("# HELP " + f.Name + " " + escapeHelp(f.Help) + "\n# TYPE " + f.Name + " " + kindName(f.Kind) + "\n")
		for i := range f.Samples {
			writeSample(b, &f, &f.Samples[i])
		}
	}
	return b.Flush()
}

func kindName(k Kind) string {
	switch k {
	case KindCounter:
		return "counter"
	case KindGauge:
		return "gauge"
	}
	return "histogram"
}

func writeSample(b *bufio.Writer, f *Family, s *Sample) {
	if s.Hist == nil {
		writeLine(b, f.Name, s.Labels, "", s.Value)
		return
	}
	for _, bound := range f.Bounds {
		n := s.Hist.Below(int64(bound / f.Unit))
		writeLine(b, f.Name+"_bucket", s.Labels, strconv.FormatFloat(bound, 'g', -1, 64), float64(n))
	}
	writeLine(b, f.Name+"_bucket", s.Labels, "+Inf", float64(s.Hist.Count))
	writeLine(b, f.Name+"_sum", s.Labels, "", float64(s.Hist.Sum)*f.Unit)
	writeLine(b, f.Name+"_count", s.Labels, "", float64(s.Hist.Count))
}

func writeLine(b *bufio.Writer, name string, labels []Label, le string, v float64) {
	b.WriteString(name)
	if len(labels) > 0 || le != "" {
		b.WriteByte('{')
		for i, l := range labels {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(l.Name + `="` + escapeValue(l.Value) + `"`)
		}
		if le != "" {
			if len(labels) > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`le="` + le + `"`)
		}
		b.WriteByte('}')
	}
	b.WriteByte(' ')
	b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	b.WriteByte('\n')
}

func escapeHelp(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s)
}

func escapeValue(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(s)
}
