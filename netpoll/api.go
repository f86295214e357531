package netpoll

// Task is an intrusive unit of work that may be posted to a loop from any goroutine. It must not be posted again
// before it ran.
type Task struct {
	Run  Runner
	next *Task
}

// Runner is what a Task does, on the loop it was posted to.
type Runner interface {
	RunTask(t *Task)
}

// Timer is an intrusive one-shot timer, owned by its loop.
type Timer struct {
	When  int64 // nanoseconds on the loop's monotonic clock
	Fire  TimerHandler
	index int // position in the loop's heap, from 1; 0 when not set
}

// TimerHandler is called on the timer's loop when it is due.
type TimerHandler interface {
	TimerFired(t *Timer, nowNs int64)
}

// TurnHook runs at the end of each turn of a loop, and again in the same turn when what it wrote has ended or much has been
// received. It reports whether there is work left that must run at once (the next wait then does not sleep); it is asked anew
// each time, so it must tell what is left and not what it did.
type TurnHook interface {
	TurnEnd() (again bool)
}
