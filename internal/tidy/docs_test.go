package tidy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkTarget = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	// machinePath finds paths of somebody's machine; documentation of a product has none.
	machinePath = regexp.MustCompile(`(^|[\s"'(=])/(work|root|home)/`)
)

func markdown(t *testing.T) []string {
	t.Helper()
	files := []string{root + "/README.md"}
	err := filepath.WalkDir(root+"/docs", func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDocsNamePathsThatExist(t *testing.T) {
	for _, file := range markdown(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range linkTarget.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
		}
		if m := machinePath.FindString(string(text)); m != "" {
			t.Errorf("%s names a path of one machine: %q", file, strings.TrimSpace(m))
		}
	}
}
