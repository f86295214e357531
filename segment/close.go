package segment

// Close syncs and writes everything so that the next start need not scan, and closes the files once their readers are
// gone. Nothing may be staged or in flight and no job out; queued ones are run here. producers is the state at
// WrittenEnd, nil if no producer changed since the last snapshot. It blocks: call it off the loop, the loop not using the
// log. After an error the log is closed all the same, and the stop is not clean.
func (l *Log) Close(producers []ProducerEntry) error {
	w, err := l.beginClose(producers)
	if err == nil {
		err = w.run()
	}
	if err == nil {
		err = l.endClose(w)
	}
	l.Abandon()
	return err
}

// Closing is a log that is closed together with many others, so that all share the syncs: what Close writes is written
// without any, and every file gets its name only when what must be durable before is. Owned by one goroutine at a time.
type Closing struct {
	l     *Log
	w     *checkpointWork
	names *laterFS
}

// BeginClose is Close for many logs of one file system. The caller makes the file system durable (vfs.FS.SyncFS), calls
// Step on all, and does both again until no Step has more; after one last sync, End. Conditions and errors are Close's.
func (l *Log) BeginClose(producers []ProducerEntry) (*Closing, error) {
	w, err := l.beginClose(producers)
	if err == nil {
		c := &Closing{l: l, w: w, names: &laterFS{FS: w.fs}}
		w.fs = c.names
		if err = w.writeFiles(); err == nil {
			return c, nil
		}
	}
	l.Abandon()
	return nil, err
}

// Step gives the next files their names; false when all have theirs.
func (c *Closing) Step() (more bool, err error) { return c.names.step() }

// End removes what is needed no more and closes the files. Everything else is durable by now.
func (c *Closing) End() error {
	err := c.l.endClose(c.w)
	c.l.Abandon()
	return err
}

// beginClose runs what is queued and collects what is to be written.
func (l *Log) beginClose(producers []ProducerEntry) (*checkpointWork, error) {
	if l.closed {
		return nil, ErrClosed
	}
	l.requeue()
	for j := l.TakeJob(); j != nil; j = l.TakeJob() {
		j.Leave()
		l.JobDone(j)
		if j.Err != nil && j.Kind != JobSuccessor {
			return nil, j.Err
		}
	}
	if l.syncErr != nil {
		return nil, l.syncErr
	}
	if l.busy || l.retrySeal != nil || l.replacing != nil {
		return nil, ErrClosed
	}
	l.pub.finishTimes(l.active.base, l.active.index.Load())
	l.st = l.pub
	return l.newCheckpoint(producers), nil
}

// endClose takes away what the files just written make needless.
func (l *Log) endClose(w *checkpointWork) error {
	l.checkpointed(w)
	if l.ahead.dirty {
		if err := giveBackOrLeave(l.active.file.File, l.pub.pos); err != nil {
			return err
		}
	}
	if l.successor != nil {
		if err := removeIfThere(l.sh.fs, l.succName); err != nil {
			return err
		}
	}
	for j := l.TakeJob(); j != nil; j = l.TakeJob() {
		j.Leave()
		l.JobDone(j)
	}
	return nil
}
