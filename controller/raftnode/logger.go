package raftnode

import (
	"fmt"
	"log/slog"
)

// logger gives raft's messages to slog. What raft tells in the course of things is of no interest to an
// operator, so it is at debug level.
type logger struct{ log *slog.Logger }

func (l logger) Debug(v ...any)            { l.log.Debug(fmt.Sprint(v...), "from", "raft") }
func (l logger) Debugf(f string, v ...any) { l.log.Debug(fmt.Sprintf(f, v...), "from", "raft") }
func (l logger) Info(v ...any)             { l.log.Debug(fmt.Sprint(v...), "from", "raft") }
func (l logger) Infof(f string, v ...any)  { l.log.Debug(fmt.Sprintf(f, v...), "from", "raft") }
func (l logger) Warning(v ...any)          { l.log.Warn(fmt.Sprint(v...), "from", "raft") }
func (l logger) Warningf(f string, v ...any) {
	l.log.Warn(fmt.Sprintf(f, v...), "from", "raft")
}
func (l logger) Error(v ...any)            { l.log.Error(fmt.Sprint(v...), "from", "raft") }
func (l logger) Errorf(f string, v ...any) { l.log.Error(fmt.Sprintf(f, v...), "from", "raft") }
func (l logger) Fatal(v ...any)            { panic(raftPanic(fmt.Sprint(v...))) }
func (l logger) Fatalf(f string, v ...any) { panic(raftPanic(fmt.Sprintf(f, v...))) }
func (l logger) Panic(v ...any)            { panic(raftPanic(fmt.Sprint(v...))) }
func (l logger) Panicf(f string, v ...any) { panic(raftPanic(fmt.Sprintf(f, v...))) }

// raftPanic is raft's word that its state contradicts itself. The node it comes from must not be used any more.
type raftPanic string

func (p raftPanic) Error() string {
	return "raftnode: the metadata log contradicts itself: " + string(p)
}

// caught turns a raftPanic into an error, so that a start is refused and a broker ends with a message.
func caught(err *error) {
	if r := recover(); r != nil {
		p, ok := r.(raftPanic)
		if !ok {
			panic(r)
		}
		*err = p
	}
}
