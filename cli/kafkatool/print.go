package kafkatool

import (
	"fmt"
	"strings"
	"time"

	"millrace/cli/conn"
)

// logLine is a line as Kafka's tools log it on stderr.
func (e *Env) logLine(level, text, class string) {
	if e.own {
		e.complain("millrace: %s", text)
		return
	}
	e.complain("[%s] %s %s (%s)", time.Now().Format("2006-01-02 15:04:05,000"), level, text, class)
}

// logException is logLine for an error under its Java name.
func (e *Env) logException(err error, class string) {
	e.logLine("ERROR", conn.Class(err)+": "+plain(err)+"\n", class)
}

// table prints rows in columns as wide as their widest cell, left aligned and one space apart, as Kafka's group tool does.
func (e *Env) table(header []string, rows [][]string, minimum map[int]int) {
	width := make([]int, len(header))
	for i, h := range header {
		width[i] = max(len(h), minimum[i])
		for _, r := range rows {
			width[i] = max(width[i], len(r[i]))
		}
	}
	print := func(cells []string) {
		var b strings.Builder
		for i, c := range cells {
			if i > 0 {
				b.WriteByte(' ')
			}
			if i == len(cells)-1 {
				b.WriteString(c)
				continue
			}
			fmt.Fprintf(&b, "%-*s", width[i], c)
		}
		e.println("%s", b.String())
	}
	print(header)
	for _, r := range rows {
		print(r)
	}
}

func joinInts(ids []int32) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, id)
	}
	return b.String()
}
