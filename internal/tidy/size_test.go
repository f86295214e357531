package tidy

import (
	"go/ast"
	"testing"
)

const (
	maxFileLines = 800
	maxFuncLines = 120
)

// longFunctions are those that were longer than maxFuncLines when the rule was made; the list only shrinks.
var longFunctions = map[string]bool{}

func TestFilesAreAboutOneThing(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: one file, one thing", s.path, s.lines, maxFileLines)
		}
	}
}

func TestFunctionsFitAScreen(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line
			if id := s.path + ":" + fn.Name.Name; lines > maxFuncLines && !longFunctions[id] {
				t.Errorf("%s has %d lines, more than %d", id, lines, maxFuncLines)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said, files := map[string]bool{}, map[string]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		files[s.pkg] = s.path
		said[s.pkg] = said[s.pkg] || s.file.Doc != nil && len(s.file.Doc.Text()) > 60
	}
	for pkg, file := range files {
		if !said[pkg] {
			t.Errorf("package %s (%s) has no package comment that says what it is", pkg, file)
		}
	}
}
