package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// InCI reports whether a missing tool is a failure (CI=true) or only a reason to skip.
func InCI() bool { return os.Getenv("CI") == "true" }

// Missing ends the test because something it needs is not there: a failure in CI, a skip elsewhere.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if InCI() {
		t.Fatalf("needed in CI: "+format, args...)
	}
	t.Skipf(format, args...)
}

// Program returns the path of a program, or ends the test with the hint how to get it.
func Program(t testing.TB, name, hint string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is not installed (%s)", name, hint)
	}
	return path
}

// KafkaTool returns the path of one of Apache Kafka's own command-line tools. KAFKA_HOME_BIN names the folder that holds them.
func KafkaTool(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("KAFKA_HOME_BIN")
	if dir == "" {
		Missing(t, "KAFKA_HOME_BIN is not set: it names the folder with Apache Kafka's %s", name)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		if _, err := os.Stat(path + ".sh"); err == nil {
			return path + ".sh"
		}
		Missing(t, "KAFKA_HOME_BIN has no %s: %v", name, err)
	}
	return path
}

// Root returns the root of the repository, found upwards from the working directory.
func Root() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for d := dir; d != "/"; d = filepath.Dir(d) {
		if filepath.Base(d) == "test" {
			if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
				return filepath.Dir(d)
			}
		}
	}
	return dir
}

// Binary returns the broker's program: MILLRACE_BIN, else bin/millrace of the repository.
func Binary() string {
	if p := os.Getenv("MILLRACE_BIN"); p != "" {
		return p
	}
	return filepath.Join(Root(), "bin", "millrace")
}

// Python returns the interpreter that has the Python clients: MILLRACE_TEST_PYTHON, else that of the environment which test/install.sh makes.
func Python() string {
	if p := os.Getenv("MILLRACE_TEST_PYTHON"); p != "" {
		return p
	}
	if p := filepath.Join(Root(), "test", ".venv", "bin", "python"); exec.Command(p, "-c", "").Run() == nil {
		return p
	}
	return "python3"
}

// NeedPython returns why a Python client cannot run, or "".
func NeedPython(module string) string {
	if err := exec.Command(Python(), "-c", "import "+module).Run(); err != nil {
		return fmt.Sprintf("%s cannot import %s (test/install.sh installs it)", Python(), module)
	}
	return ""
}

// Node prepares a script for node with the packages that test/install.sh puts into test/.node.
func Node(ctx context.Context, script string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "node", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "NODE_PATH="+nodeModules(), "KAFKAJS_NO_PARTITIONER_WARNING=1", "NODE_NO_WARNINGS=1")
	return cmd
}

// NeedNode returns why a package of node cannot be used, or "".
func NeedNode(module string) string {
	if err := Node(context.Background(), "-e", "require('"+module+"')").Run(); err != nil {
		return fmt.Sprintf("node cannot load %s (test/install.sh installs it)", module)
	}
	return ""
}

func nodeModules() string { return filepath.Join(Root(), "test", ".node", "node_modules") }
