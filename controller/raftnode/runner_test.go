package raftnode

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"millrace/controller"
	"millrace/vfs"
)

func image(im *controller.Image) []byte { return controller.AppendImage(nil, im) }

func TestFoundsAndStartsAgain(t *testing.T) {
	m := emptyMem(t)
	w := newWorld(t, m)
	w.mustOpen()
	im := w.r.Image()
	if im.ClusterID() != testCluster || im.Broker(0) == nil {
		t.Fatalf("cluster %q, broker %v", im.ClusterID(), im.Broker(0))
	}
	if got := im.Config(controller.Resource{Type: controller.ResourceBroker})["min.insync.replicas"]; got != "1" {
		t.Errorf("founding config: %q", got)
	}
	if res := w.must(&controller.AllocateProducerIDs{Count: 1000}); res.FirstProducerID != 0 {
		t.Errorf("first producer id %d", res.FirstProducerID)
	}
	w.must(createTopic("a", 3))
	for start := int32(1); start <= 3; start++ {
		w = w.again(m.Clone())
		w.mustOpen()
		topic := w.r.Image().Topic("a")
		if topic == nil || len(topic.Partitions) != 3 {
			t.Fatalf("start %d: topic %v", start, topic)
		}
		for _, p := range topic.Partitions {
			if p.LeaderEpoch != start || p.Leader != 0 {
				t.Errorf("start %d: leader %d epoch %d", start, p.Leader, p.LeaderEpoch)
			}
		}
		if res := w.must(&controller.AllocateProducerIDs{Count: 1000}); res.FirstProducerID != int64(start)*1000 {
			t.Errorf("start %d: producer ids from %d", start, res.FirstProducerID)
		}
		m = w.fs.(*vfs.Mem)
	}
}

// TestSyncsOfAStart: at most three for the first, one for a later one; many topics and many proposals share them.
func TestSyncsOfAStart(t *testing.T) {
	m := emptyMem(t)
	syncs := 0
	m.OnCall(func(c vfs.Call) {
		if c.Op == vfs.OpDatasync || c.Op == vfs.OpSyncDir || c.Op == vfs.OpSyncFS {
			syncs++
		}
	})
	check := func(what string, most int) {
		t.Helper()
		if syncs > most {
			t.Errorf("%s: %d syncs, at most %d", what, syncs, most)
		}
		syncs = 0
	}
	w := newWorld(t, m)
	w.mustOpen()
	check("first start", 3)

	var topics []controller.NewTopic
	for i := range 500 {
		topics = append(topics, controller.NewTopic{Name: fmt.Sprintf("one-command-%d", i), Partitions: 1, ReplicationFactor: 1})
	}
	for _, tr := range w.must(controller.NewCreateTopics(topics, controller.Defaults{}, newID, nil)).Topics {
		if tr.Code != 0 {
			t.Fatal(tr)
		}
	}
	check("500 topics in one command", 1)

	answered := 0
	for i := range 500 {
		w.r.Propose(createTopic(fmt.Sprintf("many-commands-%d", i), 1), func(r controller.Result) {
			if r.Topics[0].Code == 0 {
				answered++
			}
		})
	}
	if err := w.r.turn(); err != nil {
		t.Fatal(err)
	}
	if answered != 500 || w.r.Image().TopicCount() != 1000 {
		t.Errorf("answered %d, topics %d", answered, w.r.Image().TopicCount())
	}
	check("500 commands", 1)

	m = m.Clone()
	m.OnCall(func(c vfs.Call) {
		if c.Op == vfs.OpDatasync || c.Op == vfs.OpSyncDir || c.Op == vfs.OpSyncFS {
			syncs++
		}
	})
	w = w.again(m)
	w.mustOpen()
	check("second start", 1)
}

// TestOrder: subscribers see every image before the proposals that caused it are answered, in order.
func TestOrder(t *testing.T) {
	w := newWorld(t, emptyMem(t))
	w.mustOpen()
	last := w.r.Image()
	var told []string
	if got := w.r.Subscribe(func(old, new *controller.Image, changes []controller.Change) {
		if old != last {
			t.Error("an image was left out")
		}
		last = new
		if w.r.Image() != new {
			t.Error("told before it was published")
		}
		for _, c := range changes {
			told = append(told, "change "+c.Topic.Name)
		}
	}); got != last {
		t.Error("Subscribe answered another image than the first old one")
	}
	for _, name := range []string{"a", "b"} {
		w.r.Propose(createTopic(name, 1), func(controller.Result) { told = append(told, "done "+name) })
	}
	if err := w.r.turn(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"change a", "change b", "done a", "done b"}; fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("%v", told)
	}
}

// TestGoroutine runs it as a broker does.
func TestGoroutine(t *testing.T) {
	w := newWorld(t, emptyMem(t))
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	w.r.Start()
	results := make(chan controller.Result, 64)
	for i := range 64 {
		go w.r.Propose(createTopic(fmt.Sprint("t", i), 1), func(r controller.Result) { results <- r })
	}
	for range 64 {
		if r := <-results; r.Topics[0].Code != 0 {
			t.Error(r)
		}
	}
	if n := w.r.Image().TopicCount(); n != 64 {
		t.Error(n)
	}
	if err := w.r.Stop(); err != nil {
		t.Error(err)
	}
	got := false
	w.r.Propose(&controller.TakeLeadership{}, func(r controller.Result) { got = r.Code == controller.CodeUnknownServerError })
	if !got {
		t.Error("no answer after Stop")
	}
}

func TestStopAnswersWhatWaits(t *testing.T) {
	w := newWorld(t, emptyMem(t))
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	got := 0
	w.r.Propose(createTopic("a", 1), func(r controller.Result) { got++ })
	if err := w.r.Stop(); err != nil || got != 1 {
		t.Errorf("answers %d, %v", got, err)
	}
}

func TestTooManyWaiting(t *testing.T) {
	w := newWorld(t, emptyMem(t))
	w.opts.PendingMax = 3
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	var codes []controller.Code
	for i := range 3 {
		w.r.Propose(createTopic(fmt.Sprint("t", i), 1), func(r controller.Result) { codes = append(codes, r.Code) })
	}
	if err := w.r.turn(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(codes) != "[7 7 0]" {
		t.Errorf("%v", codes)
	}
	w.must(createTopic("later", 1))
}

// TestSnapshots: the log is bounded by what was written since, two generations are kept, and what is loaded is
// what was there.
func TestSnapshots(t *testing.T) {
	m := emptyMem(t)
	w := newWorld(t, m)
	w.opts.SnapshotBytes = 2000
	w.mustOpen()
	for i := range 400 {
		w.must(createTopic(fmt.Sprintf("t%d", i%20), 2))
		name := fmt.Sprintf("t%d", i%20)
		w.must(&controller.AlterConfigs{Sets: []controller.ConfigSet{{
			Resource: controller.Resource{Type: controller.ResourceTopic, Name: name},
			Version:  w.r.Image().ConfigVersion(controller.Resource{Type: controller.ResourceTopic, Name: name}),
			Configs:  map[string]string{"retention.ms": fmt.Sprint(i)},
		}}})
		w.must(&controller.DeleteTopics{Topics: []controller.TopicRef{{Name: &name}}})
	}
	w.must(createTopic("last", 1))
	names := list(t, m)
	if len(names) > 5 {
		t.Errorf("files: %v", names)
	}
	before := image(w.r.Image())
	for round := range 3 {
		n := w.again(m.Image(uint64(round)))
		r, err := Open(n.opts)
		if err != nil {
			t.Fatal(err)
		}
		n.r = r
		if err := r.turn(); err != nil { // an election, nothing of ours
			t.Fatal(err)
		}
		got := r.Image()
		b := controller.NewBuilder(got)
		b.SetIndex(w.r.Image().Index())
		same, _ := b.Done()
		if !bytes.Equal(image(same), before) {
			t.Errorf("image after restart differs")
		}
	}
}

func list(t testing.TB, fsys vfs.FS) (names []string) {
	t.Helper()
	entries, err := fsys.List(filepath.Join("/data", DirName))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRefusals(t *testing.T) {
	m := emptyMem(t)
	w := newWorld(t, m)
	w.opts.MustExist = true
	if err := w.open(); !errors.Is(err, ErrMissing) {
		t.Errorf("no metadata beside data: %v", err)
	}
	w = newWorld(t, m)
	w.mustOpen()
	w.must(createTopic("a", 1))

	other := w.again(m.Clone())
	other.opts.NodeID = 7
	if err := other.open(); err == nil || err.Error() != "raftnode: /data/__millrace_metadata-0 belongs to node.id 0, but node.id is 7" {
		t.Errorf("other node id: %v", err)
	}
	other = w.again(m.Clone())
	other.opts.Found.ClusterID = "BBBBBBBBBBBBBBBBBBBBBB"
	if err := other.open(); err == nil {
		t.Error("another cluster id was taken")
	}
	other = w.again(m.Clone())
	other.opts.Found, other.opts.MustExist = controller.Founding{}, true
	other.mustOpen()
	if other.r.Image().Topic("a") == nil || other.r.Image().ClusterID() != testCluster {
		t.Error("the cluster id on disk must do")
	}
}

// TestDirect: after a failed sync the page cache shows what the disk does not have.
func TestDirect(t *testing.T) {
	m := emptyMem(t)
	w := newWorld(t, m)
	w.mustOpen()
	w.must(createTopic("a", 1))
	log := filepath.Join("/data", DirName, logName(0))
	f, err := m.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	c := controller.Command{Node: 0, Incarnation: w.opts.Incarnation, Counter: 4, Body: createTopic("ghost", 1)}
	ghost := appendBatch(nil, w.r.node.disk.next, 0, []record{{kind: kindEntry, index: w.r.Image().Index() + 1, term: w.r.term, data: c.Encode(nil)}})
	if _, err := f.WriteAt(ghost, size); err != nil {
		t.Fatal(err)
	}
	if err := m.LosePending(log); err != nil {
		t.Fatal(err)
	}
	n := w.again(m)
	n.opts.Direct = true
	n.mustOpen()
	if im := n.r.Image(); im.Topic("a") == nil || im.Topic("ghost") != nil {
		t.Errorf("a %v, ghost %v", im.Topic("a"), im.Topic("ghost"))
	}
	n.must(createTopic("b", 1))
	n = n.again(m.Image(0))
	n.mustOpen()
	if im := n.r.Image(); im.Topic("a") == nil || im.Topic("b") == nil {
		t.Error("lost")
	}
}

// TestThousandRestarts: each costs a few hundred bytes, and the log does not grow without end.
func TestThousandRestarts(t *testing.T) {
	m := emptyMem(t)
	w := newWorld(t, m)
	w.mustOpen()
	w.must(createTopic("a", 100))
	w.opts.SnapshotBytes = 64 << 10
	for range 1000 {
		w = w.again(m)
		w.mustOpen()
	}
	if e := w.r.Image().Topic("a").Partitions[99].LeaderEpoch; e != 1000 {
		t.Errorf("epoch %d", e)
	}
	total := int64(0)
	for _, name := range list(t, m) {
		info, err := m.Stat(filepath.Join("/data", DirName, name))
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 1<<20 {
		t.Errorf("%d bytes after 1000 restarts", total)
	}
}

// TestDeadDirectory: a failed sync acknowledges nothing and tells Fatal.
func TestDeadDirectory(t *testing.T) {
	m := emptyMem(t)
	faulty := &failing{FS: m}
	w := newWorld(t, faulty)
	fatal := make(chan error, 1)
	w.opts.Fatal = func(err error) { fatal <- err }
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	w.r.Start()
	ok := make(chan controller.Result, 2)
	w.r.Propose(createTopic("a", 1), func(r controller.Result) { ok <- r })
	<-ok
	faulty.fail.Store(true)
	w.r.Propose(createTopic("b", 1), func(r controller.Result) { ok <- r })
	if err := <-fatal; !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("fatal: %v", err)
	}
	if w.r.Image().Topic("b") != nil || len(ok) != 0 {
		t.Error("acknowledged after a failed sync")
	}
	_ = w.r.Stop()
	if len(ok) != 0 {
		t.Error("answered after a failed sync")
	}
}
