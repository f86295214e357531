package controller

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// someCommands is one of each kind, with every field in use.
func someCommands() []Command {
	name := "a.b"
	bodies := []Body{
		&RegisterBroker{Rack: "r", Endpoints: []Endpoint{{Listener: "PLAINTEXT", Host: "localhost", Port: 9092}, {Listener: "SSL", Host: "::1", Port: 65535, Protocol: 1}}},
		&TakeLeadership{},
		&CreateTopics{Topics: []NewTopic{
			{Name: "a", ID: testUUID(1), Partitions: 3, ReplicationFactor: 1, Configs: map[string]string{"retention.ms": "1", "cleanup.policy": ""}},
			{Name: "b", ID: testUUID(2), Partitions: -1, ReplicationFactor: -1, Manual: true, Assignment: []Assignment{{Partition: 0, Replicas: []int32{1, 2}}, {Partition: -1}}, ConfigError: "bad"},
		}},
		&DeleteTopics{Topics: []TopicRef{{Name: &name}, {ID: testUUID(2)}, {}}},
		&CreatePartitions{Topics: []MorePartitions{{Name: "a", Count: 5}, {Name: "b", Count: -1, Manual: true, Assignment: [][]int32{{1}, nil}}}},
		&AlterConfigs{Sets: []ConfigSet{{Resource: Resource{ResourceTopic, "a"}, Version: 7, Configs: map[string]string{"x": "y"}}, {Resource: Resource{ResourceBroker, ""}, Version: -1}}},
		&AllocateProducerIDs{Count: 1000},
	}
	var out []Command
	for i, b := range bodies {
		out = append(out, Command{Node: int32(i), Incarnation: testUUID(9), Counter: 1 << (8 * i), Body: b})
	}
	return out
}

func TestCommandsSurviveTheirBytes(t *testing.T) {
	for _, c := range someCommands() {
		want := fmt.Sprintf("%T %+v", c.Body, c.Body)
		encoded := c.Encode(nil)
		got, err := DecodeCommand(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%T %+v", got.Body, got.Body); text != want && !bytes.Contains([]byte(want), []byte("0x")) {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		if got.Node != c.Node || got.Counter != c.Counter || got.Incarnation != c.Incarnation || !bytes.Equal(got.Encode(nil), encoded) {
			t.Errorf("%T differs", c.Body)
		}
		for n := range encoded {
			if _, err := DecodeCommand(encoded[:n]); err == nil {
				t.Errorf("%T: cut to %d of %d bytes it is accepted", c.Body, n, len(encoded))
			}
		}
		if _, err := DecodeCommand(append(encoded, 0)); err == nil {
			t.Errorf("%T: a byte too many is accepted", c.Body)
		}
	}
}

func FuzzDecodeCommand(f *testing.F) {
	for _, c := range someCommands() {
		f.Add(c.Encode(nil))
	}
	f.Add([]byte{commandVersion, byte(KindCreateTopics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeCommand(b)
		if err != nil {
			return
		}
		again, err := DecodeCommand(c.Encode(nil))
		if err != nil || !bytes.Equal(again.Encode(nil), c.Encode(nil)) {
			t.Fatalf("not stable: %v", err)
		}
		// Whatever was accepted can be applied.
		im := NewImage(Founding{ClusterID: "c"})
		reg := Command{Node: c.Node, Incarnation: c.Incarnation, Counter: c.Counter - 1, Body: &RegisterBroker{}}
		im, _, _, _ = Apply(im, 2, &reg)
		im, _, _, _ = Apply(im, 3, &c)
		checkImage(t, im)
	})
}

func FuzzDecodeImage(f *testing.F) {
	f.Add(AppendImage(nil, NewImage(Founding{ClusterID: "c"})))
	rng := rand.New(rand.NewPCG(1, 2))
	g := newGenerator(rng)
	im := NewImage(Founding{ClusterID: "c", Configs: map[string]string{"min.insync.replicas": "1"}, Features: map[string]int16{"metadata.version": 33}})
	for i := range 12 { // small: the fuzzer's minimizer is slow on long inputs
		c := g.next(im)
		im, _, _, _ = Apply(im, uint64(i+2), c)
	}
	f.Add(AppendImage(nil, im))
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := DecodeImage(b)
		if err != nil {
			return
		}
		checkImage(t, im)
	})
}
