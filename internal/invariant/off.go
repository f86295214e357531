//go:build !invariants

package invariant

// Expensive tells whether costly checks run.
const Expensive = false
