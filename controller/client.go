package controller

// Client is how the rest of the broker reads and changes metadata. raftnode.Runner implements it; the simulator
// has another one. Every method may be called from any goroutine.
type Client interface {
	// Propose submits a command and returns at once. done is called exactly once, on the client's goroutine,
	// after the command was applied, its image published and the subscribers told; it must not block, so post to
	// your own loop. The client adds node, incarnation and counter. If the client stops first, done gets
	// CodeUnknownServerError (the outcome is unknown); if it has stopped already, at once on the caller's goroutine.
	Propose(body Body, done func(Result))

	// Image is the newest published image, never nil.
	Image() *Image

	// Subscribe registers fn, to be called on the client's goroutine for every published image in order, before
	// the done of the commands that caused it; fn must not block. It returns the image that the first call's old
	// will be: what came before is not reported.
	Subscribe(fn func(old, new *Image, changes []Change)) *Image
}
