// Package enginebench measures the storage engine alone: appends pushed straight into partitions, no socket, no protocol. It
// shows what the engine costs below the frontend, and that it can be used without one: a test holds this package to linking
// nothing of kafka, broker, group or controller.
//
// Each partition has a fixed number of appends in flight; each is pushed again from its own completion, on the owner's loop, so
// that nothing but the engine runs.
//
// Files: enginebench.go.
package enginebench
