package model

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"millrace/bench/target"
)

// settle waits until nothing of a deleted topic is left to do, or the time is over: its directories are gone and the file system
// has committed that, which also takes discards and whatever else was written. Cells would otherwise run beside the
// deletion of the one before. Without a directory to look at it only pauses.
func (m *measurer) settle(topic string) {
	if m.o.Settle <= 0 {
		return
	}
	until := time.Now().Add(m.o.Settle)
	if m.i.Target.Kind == target.Address {
		time.Sleep(m.o.Settle / 4)
		return
	}
	for topic != "" && holds(m.o.Place.Dir, topic+"-") && time.Now().Before(until) {
		time.Sleep(5 * time.Millisecond)
	}
	m.sync(until)
}

// sync writes out the data's file system, waiting for it no longer than to a point in time.
func (m *measurer) sync(until time.Time) {
	if m.syncing == nil {
		d, err := os.Open(m.o.Place.Dir)
		if err != nil {
			return
		}
		done := make(chan struct{})
		m.syncing = done
		go func() {
			_ = unix.Syncfs(int(d.Fd()))
			_ = d.Close()
			close(done)
		}()
	}
	select {
	case <-m.syncing:
		m.syncing = nil
	case <-time.After(time.Until(until)): // it goes on; the next one waits for this instead of a second
	}
}

// holds says whether a directory whose name begins with prefix lies at most two levels below dir.
func holds(dir, prefix string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // gone meanwhile
			return nil
		case !e.IsDir():
			return nil
		case strings.HasPrefix(e.Name(), prefix):
			found = true
			return filepath.SkipAll
		}
		if rel, _ := filepath.Rel(dir, path); strings.Count(rel, string(filepath.Separator)) >= 2 {
			return filepath.SkipDir
		}
		return nil
	})
	return found
}
