// Package run is the campaign: workloads, rounds in which all targets take turns, medians and ratios, the table and the JSON.
//
// It never averages percentiles, never divides figures of different rounds, and never drops a run: one that failed is kept
// with what failed and does not count.
//
// A workload is a set of loads measured in the same rounds. In every round each load visits each target once, beginning with
// another target each time, so that drift of the machine falls on all alike.
//
// What is more than one load is a procedure: many partitions (W8), a cold backlog (W10), fan-out beside an idle crowd (W11), a
// cluster (W12), the soak, Kafka's own clients, NATS.
//
// Files: load.go (what a load is), workloads.go (W1 to W7 with their parameters), campaign.go (instances, rounds), measure.go
// (one run), starts.go (W9: start, restart, kill -9), natsstart.go (NATS in it), procedure.go (procedures and their figures),
// w8.go, w10.go, w11.go, w12.go, soak.go, stock.go (Kafka's tools, NATS), parts.go (cutting and joining campaigns), check.go (recorded ratios), report.go (JSON),
// summary.go (medians and ratios), table.go (text).
package run
