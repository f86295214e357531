// Command gendoc writes docs/configuration.md from the table of keys. Run it
// at the root of the repository.
package main

import (
	"bytes"
	"fmt"
	"os"

	"millrace/internal/config"
)

const path = "docs/configuration.md"

func main() {
	var page bytes.Buffer
	if err := config.WriteMarkdown(&page); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
	if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}
