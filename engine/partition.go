package engine

import (
	"fmt"
	"sync/atomic"

	"millrace/netpoll"
	"millrace/segment"
)

// PartitionSpec says what to create.
type PartitionSpec struct {
	Topic   string
	TopicID [16]byte
	Index   int32
	// Config of the partition; nil is the engine's default.
	Config *PartitionConfig
	// StartOffset is the first offset, 0 unless a replica starts later.
	StartOffset int64
}

// Partition is one partition's handle. Any goroutine may use its methods but where they say otherwise; the fields below
// the line belong to the owner loop.
type Partition struct {
	topic   string
	index   int32
	topicID [16]byte
	path    string
	eng     *Engine
	shard   *Shard
	dir     *logDir

	pub    published
	config atomic.Pointer[PartitionConfig]
	// failure is why the partition cannot be used: ErrOffline, ErrDeleted, ErrClosed (wrapped); nil while it can.
	failure atomic.Pointer[failure]
	// unrecovered is how many bytes lie between the recovery point and the written end.
	unrecovered atomic.Int64

	queue     atomic.Pointer[Append]
	arrivals  atomic.Pointer[Waiter]
	cancels   atomic.Pointer[Waiter]
	scheduled atomic.Bool
	readyNext *Partition

	// recoveryPoint is what the recovery-point file may say; startWanted a log start that is about to be in force.
	recoveryPoint, startWanted atomic.Int64

	// What the cleaner knows: the offset up to which the log is clean (-1: never cleaned), when it may be tried again, whether
	// it is being cleaned, and whether it cannot be.
	cleanedTo, cleanAfterMs  atomic.Int64
	cleaningNow, uncleanable atomic.Bool

	// log is set once; its methods belong to the owner loop, but for those that segment opens to any goroutine.
	log *segment.Log

	// Owner loop only.
	producers *producers
	stalled   appendList // not staged yet: a write slot, a roll or a job has to come first
	unwritten appendList // staged, in offset order; the write has not returned
	waiting   appendList // written, waiting for the commit
	writer    writeDone
	write     *segment.Write // in flight
	writeOp   netpoll.Op
	wroteNs   int64 // when the last write was submitted
	round     syncRound
	jobs      int // out
	touched   bool
	closed    bool
	full      bool
	draining  bool   // closing: what is in goes on, nothing comes in
	idle      func() // called once nothing is in flight
	removed   bool   // the directory was renamed away, or that failed
	onRemoved []func()

	// Bytes appended since the partition was opened: staged, written, committed, stable.
	cumStaged, cumWritten, cumCommitted, cumStable int64
	// strictFrom is the base offset of the first acks=all batch at or above the synced end, noOffset if there is none;
	// strictCum the bytes below it.
	strictFrom, strictCum int64
	marks                 [3]marks
	parked                [3]waiterList

	lastEpoch       int32
	syncTo          int64 // somebody waits until the log is synced up to here
	unsyncedSince   int64 // ns on the loop's clock
	unsyncedCounted int64 // part of the directory's sum
	listed          bool  // in the shard's unsynced list
	deletions       []deletion
	deleting        bool
	checkpoint      func(point int64, err error)
	cleanRun        *cleanRun // the cleaning under way

	segmentBytes, flushMessages, flushMs int64
	internal, caching                    bool
	asOpened                             bool // a clean stop left it so, and nothing was appended or rolled since
	held                                 bool // no retention before SetConfig
	retainAgain                          bool // the active segment was due; it goes once it is sealed
}

type failure struct{ err error }

// Topic is the topic's name.
func (p *Partition) Topic() string { return p.topic }

// Index is the partition's number in its topic.
func (p *Partition) Index() int32 { return p.index }

// TopicID is the topic's id.
func (p *Partition) TopicID() [16]byte { return p.topicID }

// String is topic-index, the name of the directory.
func (p *Partition) String() string { return fmt.Sprintf("%s-%d", p.topic, p.index) }

// Owner is the loop that owns the partition; it never changes.
func (p *Partition) Owner() *netpoll.Loop { return p.shard.loop }

// LogDir is the path of the log directory that holds the partition.
func (p *Partition) LogDir() string { return p.dir.path }

// Config is the configuration in force.
func (p *Partition) Config() *PartitionConfig { return p.config.Load() }

// Bounds are the published ends.
func (p *Partition) Bounds() Bounds { return p.pub.load() }

// Err is nil while the partition can be used, else ErrOffline, ErrDeleted or ErrClosed.
func (p *Partition) Err() error {
	if f := p.failure.Load(); f != nil {
		return f.err
	}
	return nil
}

// SetConfig changes the configuration; it is in force when the owner has taken it up, at once for what comes behind it.
func (p *Partition) SetConfig(c *PartitionConfig) {
	p.config.Store(c)
	p.post(func() {
		p.held = false
		p.applyConfig()
	})
}

// SetLeader publishes a leader epoch and opens the partition for appends; NoEpoch closes it. done runs on the owner
// loop (nil: nobody is told). The epoch must not fall (ErrFenced). Batches get the epoch that is published when they are
// taken up.
func (p *Partition) SetLeader(epoch int32, done func(error)) {
	p.post(func() {
		err := p.setLeader(epoch)
		if done != nil {
			done(err)
		}
	})
}

// SetCommitted raises the committed end (CommitExternal). Owner loop only. Values beyond the written end act as it;
// lower ones than the present are ignored.
func (p *Partition) SetCommitted(offset int64) { p.setCommitted(offset) }

// DeleteRecords raises the log start to offset, -1 being the committed end (decisions 11). done runs on the owner loop
// once the new start is durable, with the log start then in force. ErrOutOfRange above the committed end; at or below
// the log start nothing happens.
func (p *Partition) DeleteRecords(offset int64, done func(logStart int64, err error)) {
	p.post(func() { p.deleteRecords(offset, done) })
}

// Producers hands the known producers to done, on the owner loop, ordered by id.
func (p *Partition) Producers(done func([]ProducerInfo, error)) {
	p.post(func() {
		if err := p.Err(); err != nil {
			done(nil, err)
			return
		}
		done(p.producers.infos(), nil)
	})
}

// Size is the sum of the partition's segment files in bytes.
func (p *Partition) Size() int64 {
	v := p.log.View()
	defer v.Release()
	return v.Size()
}

// post runs fn on the owner loop; cold paths only.
func (p *Partition) post(fn func()) { p.shard.loop.PostFunc(fn) }
