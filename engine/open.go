package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"

	"millrace/internal/metric"
	"millrace/netpoll"
	"millrace/netpoll/epoll"
	"millrace/segment"
	"millrace/vfs"
)

// ErrIdentity: a log directory belongs to another cluster or node.
var ErrIdentity = errors.New("engine: log directory belongs to another cluster or node")

// Open locks the log directories, reads or writes their meta.properties, and prepares the shards. Load comes next, before
// any other use. Loops that were passed in must not run yet or be idle; the caller runs them.
func Open(o Options) (*Engine, error) {
	o.ensureDefaults()
	if len(o.Dirs) == 0 {
		return nil, errors.New("engine: no log directory")
	}
	e := &Engine{
		opts: o, fs: o.FS, log: o.Log, boot: o.BootID,
		stop:   make(chan struct{}),
		closed: make(chan struct{}),
		topics: map[string]map[int32]*Partition{},
		makers: make(chan struct{}, 16),
		making: map[string]chan struct{}{}, leaving: map[*Partition]struct{}{},
		perDir: map[*logDir]int{},
		perShd: map[*Shard]int{},
	}
	e.SetProducerExpiry(o.ProducerExpiryMs)
	if err := e.openDirs(); err != nil {
		e.unlock()
		return nil, err
	}
	loops := o.Loops
	if len(loops) == 0 {
		own, err := startLoops(o)
		if err != nil {
			e.unlock()
			return nil, err
		}
		e.own, loops = own, own.loops
	}
	for _, l := range loops {
		e.shards = append(e.shards, newShard(e, l))
	}
	for _, d := range e.dirs {
		d.registerMetrics(o.Metrics)
		go d.keep()
	}
	e.cleaner = newCleaner(e, o.Cleaner)
	go e.cleaner.run()
	return e, nil
}

func (o *Options) ensureDefaults() {
	set := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.Config == nil {
		o.Config = DefaultConfig()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Metrics == nil {
		o.Metrics = metric.NewRegistry()
	}
	if o.LoopCount <= 0 {
		o.LoopCount = 1
	}
	if o.SyncFSAbove <= 0 {
		o.SyncFSAbove = 16
	}
	if o.LoadParallel <= 0 {
		o.LoadParallel = 2 * runtime.GOMAXPROCS(0)
	}
	if o.ProducersMax <= 0 {
		o.ProducersMax = 1_000_000
	}
	if o.BootID == "" {
		o.BootID = segment.BootID()
	}
	set(&o.UnsyncedBytesMax, 256<<20)
	set(&o.AllocateAheadMax, 1<<30)
	set(&o.UnsyncedAgeMaxMs, 1000)
	set(&o.ProducerExpiryMs, 86_400_000)
	set(&o.RetentionCheckMs, 300_000)
	set(&o.SpaceProbeMs, 1000)
}

// openDirs makes, locks and identifies the log directories. One that cannot be read is dead from the start, as long as
// another one lives.
func (e *Engine) openDirs() error {
	alive := 0
	for _, path := range e.opts.Dirs {
		d := newLogDir(e, path)
		e.dirs = append(e.dirs, d)
		err := d.open()
		switch {
		case err == nil:
			alive++
		case errors.Is(err, vfs.ErrLocked), errors.Is(err, ErrIdentity), len(e.opts.Dirs) == 1:
			return fmt.Errorf("log directory %s: %w", path, err)
		default:
			e.log.Error("log directory cannot be opened: its partitions are offline", "dir", path, "err", err)
			d.dead.Store(&failure{err})
		}
	}
	if alive == 0 {
		return fmt.Errorf("no usable log directory: %w", e.dirs[0].dead.Load().err)
	}
	return e.identify()
}

// open makes and locks the directory and reads its identity.
func (d *logDir) open() error {
	fsys := d.eng.fs
	if err := makeDurable(fsys, filepath.Clean(d.path)); err != nil {
		return err
	}
	lock, err := fsys.Lock(d.join(segment.LockFile))
	if err != nil {
		return err
	}
	d.lock = lock
	for _, mark := range d.deathMarks() {
		if _, err := fsys.Stat(mark); err == nil {
			d.direct = true
		}
	}
	d.meta, err = segment.ReadMeta(fsys, d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && d.meta.NodeID != d.eng.opts.NodeID {
		return fmt.Errorf("%w: meta.properties says node.id=%d, not %d", ErrIdentity, d.meta.NodeID, d.eng.opts.NodeID)
	}
	return err
}

// makeDurable makes a directory and its parents, and sees to it that a power cut does not take them back.
func makeDurable(fsys vfs.FS, path string) error {
	if _, err := fsys.Stat(path); err == nil {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDurable(fsys, parent); err != nil {
			return err
		}
	}
	if err := fsys.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}

// identify settles the cluster id and writes the meta.properties that are missing.
func (e *Engine) identify() error {
	e.meta = e.opts.ClusterID
	for _, d := range e.dirs {
		switch id := d.meta.ClusterID; {
		case id == "" || !d.alive():
		case e.meta == "":
			e.meta = id
		case e.meta != id:
			return fmt.Errorf("log directory %s: %w: meta.properties says cluster.id=%s, not %s", d.path, ErrIdentity, id, e.meta)
		}
	}
	if e.meta == "" {
		e.meta = randomID()
	}
	for _, d := range e.dirs {
		if !d.alive() || d.meta.ClusterID != "" && d.meta.DirectoryID != "" {
			continue
		}
		d.meta.ClusterID, d.meta.NodeID = e.meta, e.opts.NodeID
		if d.meta.DirectoryID == "" {
			d.meta.DirectoryID = randomID()
		}
		if err := segment.WriteMeta(e.fs, d.path, d.meta); err != nil {
			return fmt.Errorf("log directory %s: %w", d.path, err)
		}
	}
	return nil
}

// randomID is a random id in Kafka's spelling.
func randomID() string {
	var id [16]byte
	rand.Read(id[:])
	id[6] = id[6]&0x0f | 0x40 // version 4, as Kafka's Uuid.randomUuid
	id[8] = id[8]&0x3f | 0x80
	s := segment.FormatID(id)
	if s[0] == '-' {
		return randomID()
	}
	return s
}

func (e *Engine) unlock() {
	for _, d := range e.dirs {
		if d.lock != nil {
			d.lock.Close()
			d.lock = nil
		}
	}
}

// startLoops makes and runs loops on the portable driver.
func startLoops(o Options) (*ownLoops, error) {
	own := &ownLoops{}
	for i := range o.LoopCount {
		l, err := netpoll.NewLoop(netpoll.LoopOptions{Index: i, Name: fmt.Sprintf("engine-%d", i), Driver: epoll.Factory(), Log: o.Log})
		if err != nil {
			return nil, err
		}
		own.loops = append(own.loops, l)
	}
	for _, l := range own.loops {
		own.wg.Add(1)
		go func() {
			defer own.wg.Done()
			if err := l.Run(); err != nil {
				o.Log.Error("an engine loop ended", "loop", l.Name(), "err", err)
			}
		}()
	}
	return own, nil
}
