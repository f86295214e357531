package config

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteMarkdown writes docs/configuration.md: every key of every table.
func WriteMarkdown(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, markdownHead)
	section := func(title, text string, scope Scope, pick func(*Key) bool) {
		fmt.Fprintf(out, "\n## %s\n\n%s\n\n", title, text)
		fmt.Fprint(out, "| key | type | default | allowed | changes | effect | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n")
		for _, k := range Keys(scope) {
			if pick(k) {
				writeKey(out, k)
			}
		}
	}
	section("Millrace's own broker keys", "Described by DescribeConfigs only when they are set or asked for by name.", Broker, func(k *Key) bool { return k.Own })
	section("Topic keys", "Set at creation or with AlterConfigs. What is not set follows the broker key named under *default*.", Topic, func(*Key) bool { return true })
	section("Broker keys with effect", "Set in the property file or with `--override`; those that are not read-only also with AlterConfigs.", Broker, func(k *Key) bool { return !k.Own && !k.Hidden && k.Effect.Verdict == Used })
	section("Broker keys that can be refused", "Leaving these aside would be dangerous, so another value than the default stops the start.", Broker, func(k *Key) bool { return k.Effect.Verdict == Refused })
	section("Broker keys without effect", "Accepted, kept and described, so that a Kafka property file and Kafka's tools go on working.", Broker, func(k *Key) bool { return !k.Own && !k.Hidden && k.Effect.Verdict == Ignored })
	section("Internal broker keys of Kafka", "Accepted in a property file as Kafka does, described only where they are set.", Broker, func(k *Key) bool { return k.Hidden })
	section("Group keys", "Set with AlterConfigs for a group.", Group, func(*Key) bool { return true })
	section("Client metrics keys", "Set with AlterConfigs for a client metrics subscription (KIP-714).", ClientMetrics, func(*Key) bool { return true })
	writeForeign(out)
	return out.Flush()
}

const markdownHead = `# Configuration

This page is generated from the table of keys in ` + "`internal/config`" + `; edit the table, then run ` + "`go test ./internal/config -run Docs -update`" + `.

` + "`millrace serve [server.properties] [--override key=value]`" + ` reads a Java property file as Kafka does: comments with # or !, keys that end at =, : or
white space, a backslash at the end of a line to go on, \t \n \r \f and \uXXXX. Without a file a complete single node comes up on localhost:9092 with its data in ./data.
Of a key that is set twice the last value counts, with a warning; overrides win over the file.

Every key gets a verdict at the start: *used*, *accepted without effect*, or *refused*. A key that neither Millrace nor Kafka knows, and a value that is not allowed, stop the start
with the file, the line and what is allowed. Keys of plugins, of clients and of older Kafka versions are accepted without effect, see the end of this page.

The value of a topic key is, in this order: the topic's own, the broker's dynamic one, the dynamic one of all brokers, the one in the property file, the default.
*Changes* says how a broker key can change: read-only in the file alone, per-broker for one broker, cluster-wide for one or for all.
`

func writeKey(w io.Writer, k *Key) {
	def := "none"
	switch {
	case k.Follows != "":
		def = fmt.Sprintf("`%s` (%s)", k.Follows, shown(k.Default))
	case !k.NoDefault:
		def = shown(k.Default)
	}
	mode := k.Mode.String()
	if k.Scope != Broker {
		mode = "any time"
	}
	effect := k.Effect.Verdict.String()
	if k.Effect.Why != "" {
		effect += ": " + k.Effect.Why
	}
	fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | %s |\n", k.Name, k.Type, def, cell(k.Allowed()), mode, cell(effect), cell(k.Doc))
}

func shown(def string) string {
	if def == "" {
		return "empty"
	}
	return "`" + cell(def) + "`"
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func writeForeign(w io.Writer) {
	fmt.Fprint(w, "\n## Keys of others\n\nAccepted in a property file without effect, but where it says refused.\n\n| key | instead |\n| --- | --- |\n")
	names := make([]string, 0, len(foreign))
	for name := range foreign {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		writeForeignKey(w, name, foreign[name])
	}
	prefixes := slices.Clone(foreignPrefixes)
	slices.SortFunc(prefixes, func(a, b foreignPrefix) int { return strings.Compare(a.prefix, b.prefix) })
	for _, p := range prefixes {
		writeForeignKey(w, p.prefix+"*", p.effect)
	}
}

func writeForeignKey(w io.Writer, name string, e Effect) {
	why := e.Why
	if e.Verdict == Refused {
		why = "refused: " + why
	}
	fmt.Fprintf(w, "| `%s` | %s |\n", name, cell(why))
}
