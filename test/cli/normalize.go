package cli

import (
	"regexp"
	"slices"
	"strings"
)

var javaName = variable[len(variable)-1]

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
	{regexp.MustCompile(`(^|\s)[A-Za-z0-9_+/-]{22}(==)? +/127`), "${1}{MEMBER} /127"}, // a member's id may begin with a dash
	{regexp.MustCompile(` \((org|kafka|java)\.[A-Za-z0-9_.$]+\)$`), ""},
	{regexp.MustCompile(`\b(org\.apache|java)\.[a-z.]*\b([A-Z][A-Za-z]+)(Exception|Error)\b`), "$2$3"},
}

var listed = regexp.MustCompile(`^(.*(?:Valid (?:states|types) are: |one of these options: |of the following scenarios: \[|requested consumer groups \())(.*?)(\]|\) was successful\.)?$`)

// inOrder sorts the items of lists that Kafka's tools print in the order of a hash.
func inOrder(l string) string {
	m := listed.FindStringSubmatch(l)
	if m == nil {
		return l
	}
	if m[3] == "]" && !strings.HasSuffix(l, "]]") { // the bracket belongs to the last item
		m[2], m[3] = m[2]+m[3], ""
	}
	items := strings.Split(m[2], ", ")
	slices.Sort(items)
	return m[1] + strings.Join(items, ", ") + m[3]
}

// bareCall are the calls whose usage table is recorded whole.
var bareCall = regexp.MustCompile(`^kafka-[a-z-]+$`)

var exception = regexp.MustCompile(`^(?:Exception in thread "main" )?[A-Za-z.]*(Exception|Error)(: .*)?$`)

// noise are lines of Java's clients and the head of a stack trace that only repeats the line before.
func noise(l string, before []string) bool {
	if strings.Contains(l, "[AdminClient clientId=") || strings.Contains(l, "[Producer clientId=") || strings.Contains(l, "[Consumer clientId=") ||
		strings.Contains(l, "The consumer rebalance protocol (KIP-848)") || strings.HasPrefix(l, "joptsimple.") {
		return true
	}
	if len(before) == 0 || !exception.MatchString(l) {
		return false
	}
	_, words, _ := strings.Cut(l, ": ")
	return words == before[len(before)-1]
}

var dashes = regexp.MustCompile(`^(-+ +)-+\s*$`)

// normalize cuts output into lines, replaces what differs from run to run, drops the frames of Java stack traces, and of a usage table keeps
// the left column, since the words of the right one are nobody's interface.
func (r *Runner) normalize(command, out string, stderr bool) []string {
	if out == "" {
		return nil
	}
	out = strings.ReplaceAll(out, r.Bootstrap, "{B}")
	out = strings.ReplaceAll(out, r.Dir, "{DIR}")
	if r.Fixtures != "" {
		out = strings.ReplaceAll(out, r.Fixtures, "{FIXTURES}")
	}
	if i := strings.LastIndexByte(r.Bootstrap, ':'); i >= 0 {
		out = strings.ReplaceAll(out, r.Bootstrap[i:], ":{PORT}")
	}
	var lines []string
	left := 0
	table := -1 // where the usage table begins
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if strings.HasPrefix(l, "\tat ") || strings.HasPrefix(l, "\t... ") || strings.HasPrefix(l, "Caused by: ") {
			continue
		}
		if m := dashes.FindStringSubmatch(l); m != nil && len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "Option") {
			left, table = len(m[1]), len(lines)-1
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
			indented := l[0] == ' '
			l = strings.ReplaceAll(l, " ", "")                                        // lines are broken at other places
			if indented || !strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "*") { // a cell that goes on
				lines[len(lines)-1] += l
				continue
			}
		}
		if strings.Contains(command, "kafka-dump-log") {
			l = javaName.re.ReplaceAllString(l, javaName.to) // everything else comes from the file
		} else {
			for _, v := range variable {
				l = v.re.ReplaceAllString(l, v.to)
			}
		}
		l = inOrder(l)
		if noise(l, lines) {
			continue
		}
		lines = append(lines, l)
	}
	if table >= 0 && !bareCall.MatchString(command) {
		lines = append(lines[:table], "{USAGE}")
	}
	for len(lines) > 0 && stderr && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
