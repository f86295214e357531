package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"millrace/test/harness"
)

// Tools returns a folder with Kafka's command names: MILLRACE_TEST_TOOLS, else links to bin/millrace.
func Tools(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("MILLRACE_TEST_TOOLS"); dir != "" {
		return dir
	}
	return OwnTools(t)
}

// OwnTools makes a folder of links to the program under test, as `millrace install-tools` makes it, with millrace itself in it.
func OwnTools(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	bin := harness.Binary()
	if out, err := exec.Command(bin, "install-tools", dir).CombinedOutput(); err != nil {
		t.Fatalf("install-tools: %v\n%s", err, out)
	}
	if err := os.Symlink(bin, filepath.Join(dir, "millrace")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// BrokerAddr is a broker for one test: MILLRACE_TEST_ADDR, else a new one with node.id 1, as the recordings had.
func BrokerAddr(t *testing.T) string {
	t.Helper()
	if addr := os.Getenv("MILLRACE_TEST_ADDR"); addr != "" {
		return addr
	}
	b, err := harness.Start(harness.Options{Dir: filepath.Join(t.TempDir(), "data"), Overrides: []string{"node.id=1", "group.initial.rebalance.delay.ms=0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return b.Addr
}
