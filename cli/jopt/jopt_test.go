package jopt

import (
	"reflect"
	"strings"
	"testing"
)

func set() *Set {
	return New().Str("topic", "topic", "The topic.").Int("partitions", "n", "How many.").Flag("list", "List.").
		Add(Option{Names: []string{"state"}, Arg: Optional, Help: "State."}).Long("shift-by", "n", "Shift.").Str("bootstrap-server", "server", "Where.").Must()
}

func TestForms(t *testing.T) {
	s := set()
	v, err := s.Parse([]string{"--topic", "a", "--topic=b", "-list", "rest", "--shift-by", "-4", "--state", "--partitions", "3", "-topic", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.All("topic"); !reflect.DeepEqual(got, []string{"a", "b", "c"}) {
		t.Errorf("topic: %q", got)
	}
	if !v.Has("list") || !v.Has("state") || v.Str("state") != "" || !reflect.DeepEqual(v.Rest(), []string{"rest"}) {
		t.Errorf("list %v, state %v %q, rest %q", v.Has("list"), v.Has("state"), v.Str("state"), v.Rest())
	}
	if n, err := v.Int64("shift-by", 0); n != -4 || err != nil {
		t.Errorf("shift-by: %d, %v", n, err)
	}
	if n, err := v.Int64("partitions", 0); n != 3 || err != nil {
		t.Errorf("partitions: %d, %v", n, err)
	}
	if _, err := v.Get("topic"); err == nil || err.Error() != "Found multiple arguments for option topic, but you asked for only one" {
		t.Errorf("repeated: %v", err)
	}
	if got := s.MissingRequired(v); !reflect.DeepEqual(got, []string{"bootstrap-server"}) {
		t.Errorf("missing: %q", got)
	}
}

func TestMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"--nosuch":        "nosuch is not a recognized option",
		"--topi a":        "topi is not a recognized option",
		"--topic":         "Option topic requires an argument",
		"--topic --list":  "Option topic requires an argument",
		"--list=yes":      "Option list does not take an argument",
		"--topic --other": "Option topic requires an argument",
	} {
		if _, err := set().Parse(strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %q", args, err, want)
		}
	}
	v, err := set().Parse([]string{"--partitions", "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Int64("partitions", 0); err == nil || err.Error() != "Cannot parse argument 'x' of option partitions" {
		t.Errorf("number: %v", err)
	}
	v, _ = set().Parse([]string{"--partitions", "3000000000"})
	if _, err := v.Int64("partitions", 0); err == nil {
		t.Error("an Integer of more than 32 bits was taken")
	}
}

func TestUsage(t *testing.T) {
	var b strings.Builder
	New().Str("long-name", "a,list,without,any,space,that,is,longer,than,one,line,of,the,left,column", "Words. "+strings.Repeat("word ", 20)).Flag("a", "Short.").Usage(&b)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if lines[0] != "Option                                   Description" || lines[1] != "------                                   -----------" {
		t.Errorf("head: %q", lines[:2])
	}
	for _, l := range lines {
		if len(l) > 80 {
			t.Errorf("%d columns: %q", len(l), l)
		}
	}
	left := ""
	for _, l := range lines[2:] {
		if len(l) > 41 {
			l = l[:41]
		}
		left += strings.ReplaceAll(l, " ", "")
	}
	if left != "-a--long-name<String:a,list,without,any,space,that,is,longer,than,one,line,of,the,left,column>" {
		t.Errorf("left column: %q", left)
	}
}
