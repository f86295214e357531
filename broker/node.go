package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"millrace/controller"
	"millrace/controller/raftnode"
	"millrace/engine"
	"millrace/internal/config"
	"millrace/internal/loglevel"
	"millrace/internal/metric"
	"millrace/netpoll"
	"millrace/vfs"
)

// Options are what a node is made of.
type Options struct {
	// Layers is the static configuration.
	Layers *config.Layers
	// Loops run connections and partitions; main runs them before Start.
	Loops []*netpoll.Loop
	// FS is the file system; nil is the operating system's.
	FS vfs.FS
	// Log takes the lines of all parts, unless Levels is set.
	Log *slog.Logger
	// Levels are the loggers of the parts, with levels that clients can change; nil makes one in front of Log.
	Levels *loglevel.Levels
	// Metrics collects the series of all parts.
	Metrics *metric.Registry
	// Fatal is told once when the node cannot go on: the metadata directory died. The process must exit.
	Fatal func(error)
}

// Node is one broker: loops, engine, controller client, and the topics that it serves. Any goroutine.
type Node struct {
	opts   Options
	log    *slog.Logger
	levels *loglevel.Levels
	fs     vfs.FS
	static *config.BrokerConfig
	layers atomic.Pointer[config.Layers]
	live   atomic.Pointer[config.BrokerConfig]

	configMu sync.Mutex // held while live changes
	onConfig []func(*config.BrokerConfig)

	engine      *engine.Engine
	raft        *raftnode.Runner
	incarnation [16]byte
	topics      *topics
	reconciler  *reconciler
	producerIDs producerIDs
	groups      *coordinators
	advertised  atomic.Pointer[[]config.Endpoint]

	creating     sync.Mutex
	autoCreating map[string]bool // guarded by creating

	ready    atomic.Bool
	stopping atomic.Bool
	stopOnce sync.Once
	stopErr  error

	report engine.LoadReport
	lost   map[partitionID]bool // written before the first request
	boot   time.Time
}

// Open takes the log directories, opens metadata and data, and makes them agree. It returns when every partition that
// this node leads can take writes. Listeners are opened afterwards, with the addresses given to Register.
func Open(ctx context.Context, opts Options) (*Node, error) {
	n := &Node{opts: opts, levels: opts.Levels, fs: opts.FS, boot: time.Now(), topics: newTopics(), autoCreating: map[string]bool{}}
	if n.levels == nil {
		base := opts.Log
		if base == nil {
			base = slog.Default()
		}
		n.levels = loglevel.New(base.Handler(), slog.LevelInfo)
	}
	n.log = n.levels.Logger("broker")
	if n.fs == nil {
		n.fs = vfs.OS{}
	}
	if n.opts.Metrics == nil {
		n.opts.Metrics = metric.NewRegistry()
	}
	n.layers.Store(opts.Layers)
	static, err := opts.Layers.BrokerConfig()
	if err != nil {
		return nil, err
	}
	n.static = static
	n.live.Store(static)
	n.groups = newCoordinators(n)
	if _, err := rand.Read(n.incarnation[:]); err != nil {
		return nil, err
	}
	if err := n.openEngine(); err != nil {
		return nil, err
	}
	if err := n.openMetadata(ctx); err != nil {
		n.engine.Close(ctx)
		return nil, err
	}
	n.opts.Metrics.Collect(n.collect)
	return n, nil
}

func (n *Node) openEngine() error {
	c := n.static
	e, err := engine.Open(engine.Options{
		FS: n.fs, Dirs: c.LogDirs, ReservedDirs: []string{raftnode.DirName}, Loops: n.opts.Loops,
		ClusterID: c.ClusterID, NodeID: c.NodeID, Commit: engine.CommitLocal,
		AllocateAheadMax: orNone(c.AllocateAheadBytes),
		UnsyncedBytesMax: c.BackgroundSyncBytes, UnsyncedAgeMaxMs: c.BackgroundSyncMs,
		ProducerExpiryMs: c.Dynamic.ProducerIDExpirationMs, ProducerExpiryCheckMs: c.ProducerIDExpirationCheckMs,
		RetentionCheckMs: c.LogRetentionCheckIntervalMs,
		Cleaner:          cleanerOptions(&c.Dynamic), InitialTaskDelayMs: max(c.LogInitialTaskDelayMs, 1), Metrics: n.opts.Metrics,
		HoldRetention: true, Log: n.levels.Logger("engine"), DirFailed: n.dirFailed,
	})
	if err != nil {
		return err
	}
	n.engine = e
	return nil
}

// orNone is a bound that 0 switches off, where the engine takes 0 for its default.
func orNone(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

// dirFailed is told that a log directory died. The directory that holds the metadata takes the process with it.
func (n *Node) dirFailed(dir string, err error) {
	n.log.Error("a log directory failed; its partitions are offline until the next start", "dir", dir, "error", err)
	if filepath.Clean(dir) == filepath.Clean(n.static.LogDirs[0]) {
		n.fatal(fmt.Errorf("%s holds the metadata: %w", dir, err))
	}
}

func (n *Node) fatal(err error) {
	if n.opts.Fatal != nil {
		n.opts.Fatal(err)
	}
}

// openMetadata opens the metadata log, loads the partitions beside it, and registers this incarnation.
func (n *Node) openMetadata(ctx context.Context) error {
	loaded := make(chan error, 1)
	go func() {
		r, err := n.engine.Load(ctx)
		n.report = r
		loaded <- err
	}()
	raft, err := raftnode.Open(raftnode.Options{
		FS: n.fs, Dir: n.static.LogDirs[0], NodeID: n.static.NodeID, Incarnation: n.incarnation,
		Found: controller.Founding{ClusterID: n.engine.ClusterID(), Configs: config.FormatDefaults(n.opts.Layers.Static),
			Features: finalizedFeatures},
		MustExist: n.holdsPartitions(), Direct: n.engine.DiedBefore(n.static.LogDirs[0]), Fatal: n.fatal, Log: n.levels.Logger("controller"),
	})
	if lerr := <-loaded; lerr != nil {
		err = errors.Join(err, lerr)
	}
	if err != nil {
		return err
	}
	n.raft = raft
	raft.Start()
	return nil
}

// holdsPartitions tells whether some log directory holds a partition: metadata that describes it must exist then.
func (n *Node) holdsPartitions() bool {
	for _, dir := range n.static.LogDirs {
		entries, err := n.fs.List(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && e.Name() != raftnode.DirName && partitionDir.MatchString(e.Name()) {
				return true
			}
		}
	}
	return false
}

// partitionDir is the form of a partition's directory name.
var partitionDir = regexp.MustCompile(`^[a-zA-Z0-9._-]+-[0-9]+$`)

// Register tells the controller where clients reach this node, takes leadership of its partitions and waits until
// each of them can take writes. endpoints stand in the order of the listeners.
func (n *Node) Register(ctx context.Context, endpoints []config.Endpoint) error {
	n.advertised.Store(&endpoints)
	body := &controller.RegisterBroker{Rack: n.static.Rack}
	for _, e := range endpoints {
		body.Endpoints = append(body.Endpoints, controller.Endpoint{Listener: e.Name, Host: e.Host, Port: e.Port})
	}
	if err := n.proposeWait(ctx, body); err != nil {
		return fmt.Errorf("registering with the controller: %w", err)
	}
	n.settleMissing(ctx)
	if err := n.proposeWait(ctx, &controller.TakeLeadership{}); err != nil {
		return fmt.Errorf("taking leadership: %w", err)
	}
	n.groups.start(n.Image())
	n.reconciler = newReconciler(n)
	if err := n.reconciler.start(ctx); err != nil {
		return err
	}
	n.ready.Store(true)
	return nil
}

// proposeWait proposes a command and waits for it. Never call it on a loop.
func (n *Node) proposeWait(ctx context.Context, body controller.Body) error {
	done := make(chan controller.Result, 1)
	n.raft.Propose(body, func(r controller.Result) { done <- r })
	select {
	case r := <-done:
		if r.Code != controller.CodeNone {
			return fmt.Errorf("error %d: %s", r.Code, r.Text)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops cleanly: what was appended is synced and checkpointed, the stop is marked clean.
func (n *Node) Close(ctx context.Context) error {
	n.stopOnce.Do(func() {
		n.stopping.Store(true)
		n.ready.Store(false)
		if n.reconciler != nil {
			n.reconciler.stop()
		}
		n.stopErr = errors.Join(n.engine.Close(ctx), n.raft.Stop())
	})
	return n.stopErr
}

// Accessors. What they return is immutable or safe for any goroutine.

// ID is node.id.
func (n *Node) ID() int32 { return n.static.NodeID }

func (n *Node) idText() string { return strconv.Itoa(int(n.static.NodeID)) }

// Rack is broker.rack, "" if unset.
func (n *Node) Rack() string { return n.static.Rack }

// ClusterID is Kafka's cluster id.
func (n *Node) ClusterID() string { return n.raft.Image().ClusterID() }

// Loops are the event loops.
func (n *Node) Loops() []*netpoll.Loop { return n.opts.Loops }

// Engine is the storage engine.
func (n *Node) Engine() *engine.Engine { return n.engine }

// Image is the newest metadata.
func (n *Node) Image() *controller.Image { return n.raft.Image() }

// Metrics is the registry of all parts.
func (n *Node) Metrics() *metric.Registry { return n.opts.Metrics }

// Report says what loading the partitions found.
func (n *Node) Report() engine.LoadReport { return n.report }

// Ready is nil when clients are served.
func (n *Node) Ready() error {
	switch {
	case n.stopping.Load():
		return errors.New("stopping")
	case !n.ready.Load():
		return errors.New("starting: partitions are being recovered")
	}
	return nil
}

// Advertised is what clients of a listener are told.
func (n *Node) Advertised(listener int) (host string, port int32) {
	e := (*n.advertised.Load())[listener]
	return e.Host, e.Port
}

// Config is the broker configuration in force.
func (n *Node) Config() *config.BrokerConfig { return n.live.Load() }

// Layers are the layers of the broker configuration in force.
func (n *Node) Layers() *config.Layers { return n.layers.Load() }

// RequestMaxBytes is socket.request.max.bytes.
func (n *Node) RequestMaxBytes() int64 { return int64(n.static.SocketRequestMaxBytes) }

// FetchMaxBytes is fetch.max.bytes.
func (n *Node) FetchMaxBytes() int { return int(n.static.FetchMaxBytes) }

// FetchSessionSlots is max.incremental.fetch.session.cache.slots.
func (n *Node) FetchSessionSlots() int { return int(n.static.FetchSessionSlots) }

// TopicByName finds the handle of a topic; nil if this node serves none of that name.
func (n *Node) TopicByName(name []byte) *Topic { return n.topics.byNameBytes(name) }

// FindTopic is TopicByName for a string.
func (n *Node) FindTopic(name string) *Topic { return n.topics.find(name) }

// TopicByID finds the handle of a topic by id.
func (n *Node) TopicByID(id [16]byte) *Topic { return n.topics.findID(id) }

// PartitionCount is how many partitions the topic has, ready or not.
func (n *Node) PartitionCount(id [16]byte) int {
	if t := n.Image().TopicByID(id); t != nil {
		return len(t.Partitions)
	}
	return 0
}
