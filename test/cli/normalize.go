package cli

import (
	"regexp"
	"strings"
)

var variable = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "{UUID}"},
	{regexp.MustCompile(`(TopicId: )[A-Za-z0-9_-]{22}`), "${1}{ID}"},
	{regexp.MustCompile(`((?:Create|LogAppend)Time:)\d{13}`), "${1}{MS}"},
	{regexp.MustCompile(`\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] `), "[{DATE}] "},
	{regexp.MustCompile(`console-consumer-\d+`), "console-consumer-{N}"},
	{regexp.MustCompile(`(createTime|CreateTime|baseTimestamp|maxTimestamp|timestamp: ?)(: ?)?\d{13}`), "${1}${2}{MS}"},
	{regexp.MustCompile(` \((org|kafka|java)\.[A-Za-z0-9_.$]+\)$`), ""},
	{regexp.MustCompile(`\b(org\.apache|java)\.[a-z.]*\.([A-Z][A-Za-z]+)(Exception|Error)\b`), "$2$3"},
}

var dashes = regexp.MustCompile(`^(-+ +)-+\s*$`)

// normalize cuts output into lines, replaces what differs from run to run, drops the frames of Java stack traces, and of a usage table keeps
// the left column, since the words of the right one are nobody's interface.
func (r *Runner) normalize(out string) []string {
	if out == "" {
		return nil
	}
	out = strings.ReplaceAll(out, r.Bootstrap, "{B}")
	out = strings.ReplaceAll(out, r.Dir, "{DIR}")
	if i := strings.LastIndexByte(r.Bootstrap, ':'); i >= 0 {
		out = strings.ReplaceAll(out, r.Bootstrap[i:], ":{PORT}")
	}
	var lines []string
	left := 0
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if strings.HasPrefix(l, "\tat ") || strings.HasPrefix(l, "\t... ") || strings.HasPrefix(l, "Caused by: ") {
			continue
		}
		if m := dashes.FindStringSubmatch(l); m != nil && len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "Option") {
			left = len(m[1])
			lines[len(lines)-1] = "Option"
			continue
		}
		if left > 0 {
			if len(l) > left {
				l = l[:left]
			}
			l = strings.TrimRight(l, " ")
			if l == "" {
				continue
			}
			if l[0] == ' ' { // a cell that goes on
				lines[len(lines)-1] += " " + strings.TrimSpace(l)
				continue
			}
		}
		for _, v := range variable {
			l = v.re.ReplaceAllString(l, v.to)
		}
		lines = append(lines, l)
	}
	return lines
}
