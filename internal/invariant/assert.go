package invariant

import "fmt"

// Assert panics when ok is false. The message says what must hold.
func Assert(ok bool, must string) {
	if !ok {
		panic("invariant broken: " + must)
	}
}

// Assertf is Assert with values in the message; use it only where the arguments cost nothing to build.
func Assertf(ok bool, format string, args ...any) {
	if !ok {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
