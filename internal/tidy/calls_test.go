package tidy

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"
)

// pure packages are state machines: no clock, no randomness, no goroutine, no file of their own.
var pure = []string{"controller", "group", "replica", "segment/batch", "kafka/wire", "kafka/validate"}

var bannedImports = []string{"math/rand", "math/rand/v2", "os", "net", "unsafe"}

func TestPurePackagesStayPure(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !isPure(s.pkg) {
			continue
		}
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			for _, bad := range bannedImports {
				if path == bad {
					t.Errorf("%s imports %s, but %s is pure", s.path, path, s.pkg)
				}
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a goroutine in pure package %s", s.fset.Position(n.Pos()), s.pkg)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since" || n.Sel.Name == "Sleep") {
					t.Errorf("%s: time.%s in pure package %s", s.fset.Position(n.Pos()), n.Sel.Name, s.pkg)
				}
			}
			return true
		})
	}
}

func isPure(pkg string) bool {
	for _, p := range pure {
		if pkg == p {
			return true
		}
	}
	return false
}

func TestNothingIsLeftForLater(t *testing.T) {
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, word := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"} {
				if strings.Contains(group.Text(), word) {
					t.Errorf("%s: a comment says %s: do it or write an issue", s.fset.Position(group.Pos()), word)
				}
			}
		}
	}
}
