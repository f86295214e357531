package raftnode

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"millrace/controller"
	"millrace/vfs"
)

const testCluster = "AAAAAAAAAAAAAAAAAAAAAA"

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// starts numbers the incarnations of a test process.
var starts uint64

func uuid(n uint64) (id controller.UUID) {
	binary.BigEndian.PutUint64(id[8:], n)
	return id
}

// world is one node on one file system, over restarts. Turns are made by the test: no goroutine, no chance.
type world struct {
	t    testing.TB
	fs   vfs.FS
	opts Options
	r    *Runner
	dead error
}

func newWorld(t testing.TB, fs vfs.FS) *world {
	w := &world{t: t, fs: fs}
	starts++
	w.opts = Options{
		FS: fs, Dir: "/data", NodeID: 0, Incarnation: uuid(1<<32 + starts), Log: quiet,
		Found: controller.Founding{ClusterID: testCluster, Configs: map[string]string{"min.insync.replicas": "1"}},
		Fatal: func(err error) { w.dead = err },
	}
	return w
}

func emptyMem(t testing.TB) *vfs.Mem {
	m := vfs.NewMem()
	if err := m.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	if err := m.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	return m
}

// open opens the runner and proposes what every broker does first.
func (w *world) open() error {
	r, err := Open(w.opts)
	if err != nil {
		return err
	}
	w.r = r
	r.Propose(&controller.RegisterBroker{Endpoints: []controller.Endpoint{{Listener: "PLAINTEXT", Host: "localhost", Port: 9092}}}, func(controller.Result) {})
	r.Propose(&controller.TakeLeadership{}, func(controller.Result) {})
	return nil
}

func (w *world) mustOpen() {
	w.t.Helper()
	if err := w.open(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.r.turn(); err != nil {
		w.t.Fatal(err)
	}
}

// do proposes and runs a turn. ok is false if no result came.
func (w *world) do(body controller.Body) (res controller.Result, ok bool, err error) {
	w.r.Propose(body, func(r controller.Result) { res, ok = r, true })
	err = w.r.turn()
	return res, ok, err
}

func (w *world) must(body controller.Body) controller.Result {
	w.t.Helper()
	res, ok, err := w.do(body)
	if err != nil || !ok {
		w.t.Fatalf("%T: answered %t, error %v", body, ok, err)
	}
	if res.Code != controller.CodeNone {
		w.t.Fatalf("%T: code %d %s", body, res.Code, res.Text)
	}
	return res
}

// again stops the runner without a word and starts a new incarnation on fs.
func (w *world) again(fs vfs.FS) *world {
	n := newWorld(w.t, fs)
	n.opts.SnapshotBytes = w.opts.SnapshotBytes
	return n
}

var idMu sync.Mutex
var lastID uint64

func newID() controller.UUID {
	idMu.Lock()
	defer idMu.Unlock()
	lastID++
	return uuid(lastID)
}

func createTopic(name string, partitions int32) *controller.CreateTopics {
	return controller.NewCreateTopics([]controller.NewTopic{{Name: name, Partitions: partitions, ReplicationFactor: 1}}, controller.Defaults{}, newID, nil)
}

func createMany(prefix string, n int) *controller.CreateTopics {
	topics := make([]controller.NewTopic, n)
	for i := range topics {
		topics[i] = controller.NewTopic{Name: fmt.Sprintf("%s-%d", prefix, i), Partitions: 1, ReplicationFactor: 1}
	}
	return controller.NewCreateTopics(topics, controller.Defaults{}, newID, nil)
}
