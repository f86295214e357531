package broker

import (
	"crypto/rand"

	"millrace/controller"
)

// Propose submits a change of metadata. done is told on another goroutine, when the change is applied and, for topics
// and partitions that it created, when each can take writes.
func (n *Node) Propose(body controller.Body, done func(controller.Result)) {
	n.raft.Propose(body, func(res controller.Result) {
		n.settled(&res, func() { done(res) })
	})
}

// settled calls done when the reconciler has caught up with res and its topics are ready.
func (n *Node) settled(res *controller.Result, done func()) {
	if n.reconciler == nil || res.Code != controller.CodeNone || len(res.Topics) == 0 && len(res.Configs) == 0 {
		done()
		return
	}
	n.reconciler.after(func() {
		left := newCountdown(len(res.Topics)+1, done)
		for _, t := range res.Topics {
			s := n.reconciler.state(t.ID)
			if t.Code != controller.CodeNone || s == nil {
				left.one()
				continue
			}
			s.whenReady(func(error) { left.one() })
		}
		left.one()
	})
}

// AutoCreate starts the creation of topics that a client asked for and that do not exist, with the broker's defaults.
// Nobody waits for it; what cannot be created is left out, as in Kafka.
func (n *Node) AutoCreate(names []string) {
	n.creating.Lock()
	defer n.creating.Unlock()
	var topics []controller.NewTopic
	for _, name := range names {
		if !n.autoCreating[name] && len(n.autoCreating) < autoCreateMax {
			n.autoCreating[name] = true
			topics = append(topics, controller.NewTopic{Name: name, Partitions: -1, ReplicationFactor: -1})
		}
	}
	if len(topics) == 0 {
		return
	}
	c := n.Config()
	body := controller.NewCreateTopics(topics, controller.Defaults{Partitions: c.NumPartitions, ReplicationFactor: c.ReplicationFactor}, NewUUID, nil)
	n.Propose(body, func(controller.Result) {
		n.creating.Lock()
		defer n.creating.Unlock()
		for i := range topics {
			delete(n.autoCreating, topics[i].Name)
		}
	})
}

// autoCreateMax bounds the automatic creations under way.
const autoCreateMax = 10000

// NewUUID draws an id for a topic. Kafka reserves 0 and 1 and shuns ids whose text begins with a dash.
func NewUUID() (id controller.UUID) {
	for {
		if _, err := rand.Read(id[:]); err != nil {
			panic(err) // crypto/rand does not fail on Linux
		}
		if id[0]>>2 != 62 && id != (controller.UUID{}) && id != (controller.UUID{15: 1}) {
			return id
		}
	}
}

// ListenerName is the name of a listener.
func (n *Node) ListenerName(listener int) string { return n.static.Listeners[listener].Name }
