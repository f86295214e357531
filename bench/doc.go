// Package bench measures brokers: `millrace bench run` loads a list of targets with the same workloads in turn and prints
// medians as ratios to floors of the same run.
//
// Every part is a process of its own (broker, floor, generator), pinned alike, so that all are measured the same way. Nothing
// is switched off in a target for a measurement, and every run kept or thrown away stands in the JSON.
//
// `millrace bench model` predicts what producer settings yield and measures it, `bench report` makes a page of the JSON, `bench check`
// guards the ratios to the floors.
//
// Sub-packages: wire (protocol pieces), rawgen (the generator), producer (the producer that batches as Kafka's does), model (the
// predictor and its sweeps), sink (the floors), proc (processes and their cost), stats (medians, ratios), prof (CPU profiles by
// subsystem), target (starting and stopping what is measured), run (workloads, rounds, parts, JSON), report (HTML and Markdown),
// enginebench (the storage engine alone), standalone (a program with this command only). rivals holds what starts other brokers.
//
// Files: command.go (the command), runcmd.go (campaigns), table.go (their tables), modelcmd.go (the model), reportcmd.go (pages),
// checkcmd.go (the guard), enginecmd.go (the engine alone), gen.go and floor.go (the hidden commands that run in processes of
// their own).
package bench
