package controller

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func idText(id UUID) string { return fmt.Sprintf("#%d", binary.BigEndian.Uint64(id[8:])) }

func printResult(r *Result, ids bool) string {
	var b strings.Builder
	if r.Code != CodeNone {
		fmt.Fprintf(&b, "code %d %q\n", r.Code, r.Text)
	}
	for _, t := range r.Topics {
		name := fmt.Sprintf("%q", t.Name)
		if t.NoName {
			name = "null"
		}
		fmt.Fprintf(&b, "%s %s code %d", name, idText(t.ID), t.Code)
		if t.Code == CodeNone {
			fmt.Fprintf(&b, " partitions %d factor %d", t.Partitions, t.ReplicationFactor)
		} else {
			fmt.Fprintf(&b, " %q", t.Text)
		}
		b.WriteString("\n")
	}
	for _, c := range r.Configs {
		fmt.Fprintf(&b, "%d %q code %d %q", c.Resource.Type, c.Resource.Name, c.Code, c.Text)
		if c.Conflict {
			b.WriteString(" conflict")
		}
		b.WriteString("\n")
	}
	if r.BrokerEpoch != 0 {
		fmt.Fprintf(&b, "broker epoch %d\n", r.BrokerEpoch)
	}
	if ids {
		fmt.Fprintf(&b, "first producer id %d\n", r.FirstProducerID)
	}
	return b.String()
}

func printChanges(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		switch c.Kind {
		case TopicCreated:
			fmt.Fprintf(&b, "  + topic %s\n", c.Topic.Name)
		case TopicDeleted:
			fmt.Fprintf(&b, "  - topic %s\n", c.Topic.Name)
		case PartitionsAdded:
			fmt.Fprintf(&b, "  + %s from %d\n", c.Topic.Name, c.Partition)
		case PartitionChanged:
			p := c.Topic.Partitions[c.Partition]
			fmt.Fprintf(&b, "  ~ %s-%d leader %d epoch %d\n", c.Topic.Name, c.Partition, p.Leader, p.LeaderEpoch)
		case ConfigChanged:
			fmt.Fprintf(&b, "  ~ config %d %q\n", c.Resource.Type, c.Resource.Name)
		case BrokerChanged:
			fmt.Fprintf(&b, "  ~ broker %d\n", c.Broker)
		}
	}
	return b.String()
}

func mapText(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+m[k])
	}
	return strings.Join(parts, " ")
}

func (s *script) print() string {
	var b strings.Builder
	im := s.im
	fmt.Fprintf(&b, "index %d producer ids from %d topics %d partitions %d\n", im.Index(), im.NextProducerID(), im.TopicCount(), im.PartitionCount())
	for _, br := range im.Brokers() {
		fmt.Fprintf(&b, "broker %d epoch %d rack %q\n", br.ID, br.Epoch, br.Rack)
	}
	for _, r := range im.ConfigResources() {
		fmt.Fprintf(&b, "config %d %q version %d: %s\n", r.Type, r.Name, im.ConfigVersion(r), mapText(im.Config(r)))
	}
	for t := range im.Topics() {
		fmt.Fprintf(&b, "%s %s version %d: %s\n", t.Name, idText(t.ID), t.ConfigVersion, mapText(t.Configs))
		for i, p := range t.Partitions {
			fmt.Fprintf(&b, "  %d: leader %d epoch %d/%d replicas %v isr %v\n", i, p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.Replicas, p.ISR)
		}
	}
	return b.String()
}

// checkImage finds what is inconsistent in an image.
func checkImage(t testing.TB, im *Image) {
	t.Helper()
	n, partitions, last := 0, 0, ""
	for topic := range im.Topics() {
		n++
		partitions += len(topic.Partitions)
		if n > 1 && topic.Name <= last {
			t.Fatalf("%q comes behind %q", topic.Name, last)
		}
		last = topic.Name
		if im.Topic(topic.Name) != topic || im.TopicByID(topic.ID) != topic {
			t.Fatalf("topic %q is not the same by name and by id", topic.Name)
		}
		if hasCollisionChars(topic.Name) {
			if names, _ := im.collisions.get(collisionKey(topic.Name)); !slices.Contains(names, topic.Name) {
				t.Fatalf("topic %q does not stand among those it can collide with", topic.Name)
			}
		}
	}
	if n != im.TopicCount() || n != im.byID.len() || partitions != im.PartitionCount() {
		t.Fatalf("%d topics and %d partitions, counted as %d, %d and %d", n, partitions, im.TopicCount(), im.byID.len(), im.PartitionCount())
	}
	im.collisions.all(func(key string, names []string) bool {
		for _, name := range names {
			if im.Topic(name) == nil {
				t.Fatalf("%q can be collided with, but does not exist", name)
			}
		}
		return true
	})
	encoded := AppendImage(nil, im)
	back, err := DecodeImage(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(AppendImage(nil, back), encoded) {
		t.Fatal("an image from a snapshot differs from the one it was taken of")
	}
}
