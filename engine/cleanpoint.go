package engine

import (
	"millrace/segment"
)

// The cleaner's checkpoint (cleaner-offset-checkpoint, Kafka's format) says per partition up to where it was cleaned. It
// is never trusted further than that: behind it keys are looked up again, and what is missing in it is cleaned from the
// log's start.

// writeCleaned replaces the directory's file.
func (d *logDir) writeCleaned() error {
	d.files.Lock()
	defer d.files.Unlock()
	entries := d.cleanedEntries()
	if err := segment.WriteOffsets(d.eng.fs, d.join(segment.CleanerFile), entries); err != nil {
		return err
	}
	d.cleanedNames = map[string]bool{}
	for _, x := range entries {
		d.cleanedNames[segment.DirName(x.Topic, x.Partition)] = true
	}
	return nil
}

// cleanedEntries are those of the open partitions, and those that were found of partitions that could not be opened.
func (d *logDir) cleanedEntries() []segment.OffsetEntry {
	entries := []segment.OffsetEntry{}
	for _, p := range d.partitions() {
		if to := p.cleanedTo.Load(); to >= 0 {
			entries = append(entries, segment.OffsetEntry{Topic: p.topic, Partition: p.index, Offset: to})
		}
	}
	for _, x := range d.closedPoints {
		if to, ok := d.cleanedFound[segment.DirName(x.Topic, x.Partition)]; ok {
			entries = append(entries, segment.OffsetEntry{Topic: x.Topic, Partition: x.Partition, Offset: to})
		}
	}
	return entries
}

// forgetCleaned takes the entry of an earlier partition out of the file, before another of that name is made.
func (d *logDir) forgetCleaned(name string) error {
	d.files.Lock()
	known := d.cleanedNames[name]
	d.files.Unlock()
	if !known {
		return nil
	}
	return d.writeCleaned()
}

// foundCleaned notes what the file says at the start.
func (d *logDir) foundCleaned(m map[string]int64) {
	d.files.Lock()
	defer d.files.Unlock()
	d.cleanedFound, d.cleanedNames = m, map[string]bool{}
	for name := range m {
		d.cleanedNames[name] = true
	}
}

// restoreCleaned tells a partition that was just opened how far it was cleaned.
func (p *Partition) restoreCleaned() {
	p.dir.files.Lock()
	to, ok := p.dir.cleanedFound[p.String()]
	p.dir.files.Unlock()
	if ok {
		p.cleanedTo.Store(to)
		p.log.SetCleanedTo(to)
	}
}
