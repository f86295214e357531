package config

import (
	"fmt"
	"slices"
)

// threadKeys may be set to no less than half and no more than double of what
// they are, while the broker runs.
var threadKeys = []string{
	"background.threads", "log.cleaner.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers",
	"remote.log.manager.copier.thread.pool.size", "remote.log.manager.expiration.thread.pool.size", "remote.log.manager.follower.thread.pool.size", "remote.log.reader.threads",
}

// fixedKeys are called dynamic by Kafka, but another value needs code that is
// not there.
var fixedKeys = []string{"listeners", "listener.security.protocol.map", "metric.reporters", "principal.builder.class"}

// checkDynamic checks a change from one state to the next; changed is the
// layer that the request wrote.
func checkDynamic(from, to *Layers, changed Set) error {
	for _, name := range threadKeys {
		was, is := from.whole(name), to.whole(name)
		if _, ok := changed[name]; ok && (is < was/2 || is > was*2) {
			return fmt.Errorf("%s is %d: from %d it may change to no less than half and no more than double", name, is, was)
		}
	}
	for _, name := range fixedKeys {
		if _, ok := changed[name]; !ok || to.get(name).String() == from.get(name).String() {
			continue
		}
		if name == "metric.reporters" && len(to.list(name)) == 0 {
			continue
		}
		return fmt.Errorf("%s cannot take another value while the broker runs", name)
	}
	for _, name := range []string{"max.connections", "max.connection.creation.rate"} {
		if _, ok := changed[name]; ok && to.whole(name) == 0 {
			return fmt.Errorf("%s is 0: that would lock out everybody, the next change as well; allowed: at least 1", name)
		}
	}
	return to.check()
}

// check holds the rules between broker keys, which the property file must
// follow as well.
func (l *Layers) check() error {
	for _, rule := range []func(*Layers) error{checkTimes, checkCleaner, checkConnections, checkTieredTimes, checkTieredBytes, checkAssignmentIntervals, checkCordoned} {
		if err := rule(l); err != nil {
			return err
		}
	}
	return nil
}

func checkTimes(l *Layers) error {
	if v := l.get("log.retention.ms"); !v.Null && v.Int == 0 {
		return fmt.Errorf("log.retention.ms is 0; allowed: -1, for ever, or at least 1")
	}
	for _, name := range []string{"log.retention.minutes", "log.retention.hours"} {
		if v := l.get(name); !v.Null && v.Int == 0 {
			return fmt.Errorf("%s is 0; allowed: -1, for ever, or at least 1", name)
		}
	}
	if v := l.get("log.roll.ms"); !v.Null && v.Int < 1 {
		return fmt.Errorf("log.roll.ms is %d; allowed: at least 1", v.Int)
	}
	if v := l.get("log.roll.jitter.ms"); !v.Null && v.Int < 0 {
		return fmt.Errorf("log.roll.jitter.ms is %d; allowed: at least 0", v.Int)
	}
	return nil
}

func checkCleaner(l *Layers) error {
	threads, buffer := l.whole("log.cleaner.threads"), l.whole("log.cleaner.dedupe.buffer.size")
	if threads < 1 || buffer/threads <= 1<<20 {
		return fmt.Errorf("log.cleaner.dedupe.buffer.size is %d for %d log.cleaner.threads; allowed: at least one thread, more than 1048576 for each", buffer, threads)
	}
	return nil
}

func checkConnections(l *Layers) error {
	if l.whole("max.connections.per.ip") == 0 && len(SplitList(l.text("max.connections.per.ip.overrides"))) == 0 {
		return fmt.Errorf("max.connections.per.ip is 0, which is allowed only where max.connections.per.ip.overrides lets some in")
	}
	return nil
}

// checkTieredTimes holds the local and the whole retention against each
// other, as Kafka does whether tiered storage is on or off.
func checkTieredTimes(l *Layers) error {
	retention := l.inherited(mustLookup(Topic, "retention.ms")).Int
	return checkTiered("ms", retention, l.whole("log.local.retention.ms"), l.whole("log.remote.copy.lag.ms"))
}

func checkTieredBytes(l *Layers) error {
	return checkTiered("bytes", l.whole("log.retention.bytes"), l.whole("log.local.retention.bytes"), l.whole("log.remote.copy.lag.bytes"))
}

func checkTiered(kind string, retention, local, lag int64) error {
	const follow = -2
	if local != follow && retention >= 0 && (local == -1 || local > retention) {
		return fmt.Errorf("log.local.retention.%s is %d, more than log.retention.%s (%d)", kind, local, kind, retention)
	}
	if local == follow {
		local = retention
	}
	if local >= 0 && lag > local {
		return fmt.Errorf("log.remote.copy.lag.%s is %d, more than log.local.retention.%s (%d)", kind, lag, kind, local)
	}
	return nil
}

func checkAssignmentIntervals(l *Layers) error {
	for _, kind := range []string{"consumer", "share", "streams"} {
		v := l.whole("group." + kind + ".assignment.interval.ms")
		low, high := l.whole("group."+kind+".min.assignment.interval.ms"), l.whole("group."+kind+".max.assignment.interval.ms")
		if v < low || v > high {
			return fmt.Errorf("group.%s.assignment.interval.ms is %d; allowed: %d to %d, as group.%s.min and max say", kind, v, low, high, kind)
		}
	}
	return nil
}

func checkCordoned(l *Layers) error {
	cordoned, dirs := l.list("cordoned.log.dirs"), l.logDirs()
	if len(cordoned) == 1 && cordoned[0] == "*" {
		return nil
	}
	for _, d := range cordoned {
		if !slices.Contains(dirs, d) {
			return fmt.Errorf("cordoned.log.dirs: %q is not in log.dirs", d)
		}
	}
	return nil
}

// logDirs are the directories of log.dirs, or of log.dir.
func (l *Layers) logDirs() []string {
	if dirs := l.list("log.dirs"); len(dirs) > 0 {
		return dirs
	}
	return l.list("log.dir")
}
