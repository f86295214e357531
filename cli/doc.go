// Package cli is the tools of the one binary: Apache Kafka's commands under their own names (Main, when the program is called by such a name) and
// the subcommands of millrace (Commands).
//
// It holds no broker: `millrace serve` is handed in for kafka-server-start. Tools speak the Kafka protocol through franz-go, to any broker; only
// log dump reads files. Nothing is kept between calls; a tool ends when its context does (SIGINT, SIGTERM).
//
// Files: main.go called by a name; install.go links; commands.go the tree and the flags that all have; topic.go, produce.go, consume.go, group.go,
// seek.go, configs.go, logdump.go, cluster.go the subcommands; complete.go what the tab key proposes; print.go tables and JSON. Packages:
// kafkatool Kafka's tools, jopt their option parser, conn connections and error words. testdata/golden: what Kafka's tools said, replayed by
// ../test/cli.
package cli
