package clients

import (
	"context"
	"os/exec"
	"path/filepath"

	"millrace/test/harness"
)

// kafkajs runs as a script that speaks the frames of the Python clients. It reads through a group, for it knows no other way.
var kafkajs = client{name: "kafkajs", produce: scriptProduce("kafkajs_io.js", kafkajsCommand), consume: scriptConsume("kafkajs_io.js", kafkajsCommand),
	need: func() string { return harness.NeedNode("kafkajs") }}

func kafkajsCommand(ctx context.Context, script string, args ...string) *exec.Cmd {
	return harness.Node(ctx, filepath.Join("js", script), args...)
}
