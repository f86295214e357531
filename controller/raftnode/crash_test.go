package raftnode

import (
	"errors"
	"fmt"
	"testing"

	"millrace/controller"
	"millrace/vfs"
)

// promised is what the outside was told.
type promised struct {
	topics   map[string]controller.UUID
	deleted  map[string]bool
	retained map[string]string // topic -> retention.ms
	nextID   int64             // first producer id that was not handed out
	epochs   map[string]int32
}

// script runs a few commands of every kind until the file system crashes, and writes down what was acknowledged.
func (p *promised) script(w *world) error {
	if err := w.open(); err != nil {
		return err
	}
	if err := w.r.turn(); err != nil {
		return err
	}
	for name := range p.topics {
		topic := w.r.Image().Topic(name)
		if topic == nil {
			continue // judged by check
		}
		if e := topic.Partitions[0].LeaderEpoch; e > p.epochs[name] {
			p.epochs[name] = e
		}
	}
	for i := range 12 {
		name := fmt.Sprintf("t%d", i)
		create := createTopic(name, 2)
		if w.r.Image().Topic(name) == nil {
			delete(p.deleted, name) // from now on either is right
			delete(p.retained, name)
			if res, ok, err := w.do(create); err != nil {
				return err
			} else if ok && res.Topics[0].Code == 0 {
				p.topics[name] = create.Topics[0].ID
			}
		}
		if res, ok, err := w.do(&controller.AllocateProducerIDs{Count: 10}); err != nil {
			return err
		} else if ok {
			if res.FirstProducerID < p.nextID {
				return fmt.Errorf("producer id %d was handed out before: %w", res.FirstProducerID, errWrong)
			}
			p.nextID = res.FirstProducerID + 10
		}
		r := controller.Resource{Type: controller.ResourceTopic, Name: name}
		set := controller.ConfigSet{Resource: r, Version: w.r.Image().ConfigVersion(r), Configs: map[string]string{"retention.ms": fmt.Sprint(i)}}
		p.retained[name] = "" // either
		if res, ok, err := w.do(&controller.AlterConfigs{Sets: []controller.ConfigSet{set}}); err != nil {
			return err
		} else if ok && res.Configs[0].Code == 0 {
			p.retained[name] = fmt.Sprint(i)
		}
		if i%4 == 3 {
			delete(p.topics, name) // from now on either is right
			if res, ok, err := w.do(&controller.DeleteTopics{Topics: []controller.TopicRef{{Name: &name}}}); err != nil {
				return err
			} else if ok && res.Topics[0].Code == 0 {
				p.deleted[name] = true
			}
		}
	}
	return nil
}

var errWrong = errors.New("wrong")

// check says what of the promises an image breaks.
func (p *promised) check(im *controller.Image) error {
	for name, id := range p.topics {
		t := im.Topic(name)
		if t == nil || t.ID != id || im.TopicByID(id) != t || len(t.Partitions) != 2 {
			return fmt.Errorf("topic %s was acknowledged and is %v", name, t)
		}
		if t.Configs["retention.ms"] != p.retained[name] && p.retained[name] != "" {
			return fmt.Errorf("topic %s: retention.ms %q, acknowledged %q", name, t.Configs["retention.ms"], p.retained[name])
		}
		if t.Partitions[0].LeaderEpoch <= p.epochs[name] && p.epochs[name] > 0 {
			return fmt.Errorf("topic %s: epoch %d was used before", name, t.Partitions[0].LeaderEpoch)
		}
	}
	for name := range p.deleted {
		if im.Topic(name) != nil {
			return fmt.Errorf("topic %s is back", name)
		}
	}
	if im.NextProducerID() < p.nextID {
		return fmt.Errorf("producer ids from %d, but %d were handed out", im.NextProducerID(), p.nextID)
	}
	return nil
}

func newPromised() *promised {
	return &promised{topics: map[string]controller.UUID{}, deleted: map[string]bool{}, retained: map[string]string{}, epochs: map[string]int32{}}
}

// TestCrashAtEveryCall cuts the power at every storage call of two starts with snapshots between, looks at what
// could be left, and at what a killed process leaves; then crashes the recovery as well.
func TestCrashAtEveryCall(t *testing.T) {
	crashes := 0
	for n := int64(0); ; n++ {
		m := emptyMem(t)
		p := newPromised()
		m.CrashAfter(n)
		for range 2 {
			w := newWorld(t, m)
			w.opts.SnapshotBytes = 900
			if err := p.script(w); err != nil {
				if errors.Is(err, errWrong) || !m.Crashed() {
					t.Fatalf("crash at call %d: %v", n, err)
				}
				break
			}
		}
		if !m.Crashed() {
			break
		}
		crashes++
		for seed := range uint64(8) {
			p.survives(t, m.Image(seed), fmt.Sprintf("crash at call %d, image %d", n, seed), seed > 1 && n%5 == 0)
		}
		p.survives(t, m.Clone(), fmt.Sprintf("kill at call %d", n), false)
	}
	if crashes < 100 {
		t.Errorf("only %d crash points", crashes)
	}
}

// survives starts on what a crash left; with again it also crashes that start at every call.
func (p *promised) survives(t *testing.T, m *vfs.Mem, what string, again bool) {
	t.Helper()
	if again {
		for n := int64(0); ; n++ {
			c := m.Image(1)
			c.CrashAfter(n)
			w := newWorld(t, c)
			w.opts.SnapshotBytes = 900
			if w.open() == nil {
				_ = w.r.turn()
			}
			if !c.Crashed() {
				break
			}
			p.survives(t, c.Image(uint64(n)+2), fmt.Sprintf("%s, again at call %d", what, n), false)
		}
	}
	w := newWorld(t, m)
	if err := w.open(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := w.r.turn(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := p.check(w.r.Image()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if res := w.must(&controller.AllocateProducerIDs{Count: 10}); res.FirstProducerID < p.nextID {
		t.Fatalf("%s: producer id %d twice", what, res.FirstProducerID)
	}
}
