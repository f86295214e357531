// Package invariant holds assertions that stay on in production (Assert) and costly ones that run only
// under the build tag "invariants" (Expensive). A failed assertion is a bug of ours: it panics, so that nothing
// is acknowledged on wrong state.
package invariant
