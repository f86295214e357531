// Package adminhttp serves what operators look at: / (an index), /metrics (Prometheus text), /livez, /readyz, /v1/cluster/health
// and /debug/pprof, on a loopback port of its own.
//
// It reads and changes nothing. It runs on ordinary goroutines, never on a loop, and a scrape takes no lock that the data
// path takes.
package adminhttp
