package controller

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// generator makes commands that mostly make sense for an image. Owned by its test.
type generator struct {
	rng      *rand.Rand
	ids      uint64
	counters map[int32]uint64
	starts   map[int32]uint64
}

func newGenerator(rng *rand.Rand) *generator {
	return &generator{rng: rng, counters: map[int32]uint64{}, starts: map[int32]uint64{}}
}

func (g *generator) name() string {
	return fmt.Sprintf("%c%c%d", "ab"[g.rng.IntN(2)], "._-"[g.rng.IntN(3)], g.rng.IntN(40))
}

func (g *generator) next(im *Image) *Command {
	node := int32(g.rng.IntN(3))
	body := g.body(im)
	if g.starts[node] == 0 || g.rng.IntN(50) == 0 {
		g.starts[node]++
		g.counters[node] = 0
		body = &RegisterBroker{Rack: "r", Endpoints: []Endpoint{{Listener: "L", Host: "h", Port: 1}}}
	}
	switch g.rng.IntN(40) {
	case 0: // sent again
	case 1: // lost: a gap
		return &Command{Node: node, Incarnation: testUUID(g.starts[node]), Counter: g.counters[node] + 2, Body: body}
	default:
		g.counters[node]++
	}
	return &Command{Node: node, Incarnation: testUUID(g.starts[node]), Counter: g.counters[node], Body: body}
}

func (g *generator) body(im *Image) Body {
	name := g.name()
	switch g.rng.IntN(8) {
	case 0, 1, 2:
		var topics []NewTopic
		for range g.rng.IntN(4) + 1 {
			topics = append(topics, NewTopic{Name: g.name(), Partitions: int32(g.rng.IntN(5)), ReplicationFactor: int16(g.rng.IntN(3)), Configs: map[string]string{"k": name}})
		}
		return NewCreateTopics(topics, Defaults{1, 1}, func() UUID { g.ids++; return testUUID(g.ids) }, nil)
	case 3:
		return &DeleteTopics{Topics: []TopicRef{{Name: &name}, {ID: testUUID(g.rng.Uint64N(g.ids + 1))}}}
	case 4:
		return &CreatePartitions{Topics: []MorePartitions{{Name: name, Count: int32(g.rng.IntN(9))}}}
	case 5:
		r := Resource{[]ResourceType{ResourceTopic, ResourceBroker, ResourceGroup}[g.rng.IntN(3)], name}
		set := ConfigSet{Resource: r, Version: im.ConfigVersion(r) + int64(g.rng.IntN(5)/4)}
		if g.rng.IntN(3) > 0 {
			set.Configs = map[string]string{"k": g.name(), "l": name}
		}
		return &AlterConfigs{Sets: []ConfigSet{set}}
	case 6:
		return &TakeLeadership{}
	}
	return &AllocateProducerIDs{Count: int32(g.rng.IntN(100))}
}

// TestReplayIsLive: commands applied one by one, in batches, from a snapshot taken anywhere, and through their bytes
// give the same image and the same results; and no published image ever changes.
func TestReplayIsLive(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newGenerator(rng)
		live := NewImage(Founding{ClusterID: "c"})
		replay := NewImage(Founding{ClusterID: "c"})
		batch := NewBuilder(replay)
		type kept struct {
			im    *Image
			bytes []byte
		}
		var old []kept
		for i := range 250 {
			c := g.next(live)
			index := uint64(i + 2)
			encoded := c.Encode(nil)
			var res Result
			var applied bool
			live, res, _, applied = Apply(live, index, c)
			if i%5 == 0 {
				checkImage(t, live)
			}
			decoded, err := DecodeCommand(encoded)
			if err != nil {
				t.Fatal(err)
			}
			res2, applied2 := batch.Apply(index, &decoded)
			if applied != applied2 || fmt.Sprint(res) != fmt.Sprint(res2) {
				t.Fatalf("seed %d, command %d: results differ\n%+v\n%+v", seed, i, res, res2)
			}
			if rng.IntN(10) == 0 {
				replay, _ = batch.Done()
				if got, want := AppendImage(nil, replay), AppendImage(nil, live); !bytes.Equal(got, want) {
					t.Fatalf("seed %d, command %d: images differ", seed, i)
				}
				old = append(old, kept{replay, AppendImage(nil, replay)})
				if rng.IntN(3) == 0 { // go on from a snapshot
					if replay, err = DecodeImage(AppendImage(nil, replay)); err != nil {
						t.Fatal(err)
					}
				}
				batch = NewBuilder(replay)
			}
		}
		for _, k := range old {
			if !bytes.Equal(AppendImage(nil, k.im), k.bytes) {
				t.Fatalf("seed %d: the image at %d has changed after it was published", seed, k.im.Index())
			}
		}
	}
}

// TestChangesTellAll: what Apply reports is all that differs in topics and partitions.
func TestChangesTellAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	g := newGenerator(rng)
	im := NewImage(Founding{ClusterID: "c"})
	mirror := map[string]*Topic{}
	for i := range 3000 {
		var changes []Change
		im, _, changes, _ = Apply(im, uint64(i+2), g.next(im))
		for _, c := range changes {
			switch c.Kind {
			case TopicDeleted:
				delete(mirror, c.Topic.Name)
			case TopicCreated, PartitionsAdded, PartitionChanged:
				mirror[c.Topic.Name] = c.Topic
			case ConfigChanged:
				if c.Topic != nil {
					mirror[c.Topic.Name] = c.Topic
				}
			}
		}
		if len(mirror) != im.TopicCount() {
			t.Fatalf("command %d: %d topics by changes, %d in the image", i, len(mirror), im.TopicCount())
		}
		for topic := range im.Topics() {
			if mirror[topic.Name] != topic {
				t.Fatalf("command %d: topic %s changed without a word", i, topic.Name)
			}
		}
	}
}

// TestManyTopicsAreNotQuadratic compares what a topic costs in a cluster of 1,000 and of 16,000, each made by a
// command of its own.
func TestManyTopicsAreNotQuadratic(t *testing.T) {
	perTopic := func(n int) float64 {
		im := NewImage(Founding{ClusterID: "c"})
		reg := Command{Incarnation: testUUID(1), Counter: 1, Body: &RegisterBroker{}}
		im, _, _, _ = Apply(im, 2, &reg)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			c := Command{Incarnation: testUUID(1), Counter: uint64(i + 2), Body: NewCreateTopics(
				[]NewTopic{{Name: fmt.Sprintf("topic-%d", i), Partitions: 1, ReplicationFactor: 1}}, Defaults{}, func() UUID { return testUUID(uint64(i + 1)) }, nil)}
			im, _, _, _ = Apply(im, uint64(i+3), &c)
		}
		runtime.ReadMemStats(&after)
		if im.TopicCount() != n {
			t.Fatalf("%d topics of %d", im.TopicCount(), n)
		}
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	few, many := perTopic(1000), perTopic(16000)
	t.Logf("%.0f bytes a topic among 1,000, %.0f among 16,000", few, many)
	if many > 2.5*few {
		t.Errorf("%.0f bytes a topic among 1,000, %.0f among 16,000", few, many)
	}
}
