package run_test

import (
	"millrace/bench/rawgen"
	"millrace/bench/run"
)

// fake is a run that made so many requests in one second.
func fake(load, target string, round int, requests int64) run.Run {
	return run.Run{Load: load, Target: target, Round: round, Result: &rawgen.Result{Kind: "produce", Seconds: 1, Requests: requests, PayloadBytes: requests * 1024}}
}
