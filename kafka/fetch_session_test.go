package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The cache's count of partitions follows sessions that grow and shrink.
func TestFetchSessionsAreCountedAsTheyChange(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	c.topic("a", 3)
	expect := func(when string, sessions, partitions int64) {
		t.Helper()
		if s, p, _ := r.fe.sessions.counts(); s != sessions || p != partitions {
			t.Errorf("%s: %d sessions with %d partitions, want %d with %d", when, s, p, sessions, partitions)
		}
	}
	full := fetchRequest("a", 0, 0, 0, 0)
	full.SessionEpoch = 0
	id := c.ask(full, 12).(*kmsg.FetchResponse).SessionID
	expect("made", 1, 1)

	grow := fetchRequest("a", 1, 0, 0, 0)
	third := grow.Topics[0].Partitions[0]
	third.Partition = 2
	grow.Topics[0].Partitions = append(grow.Topics[0].Partitions, third)
	grow.SessionID, grow.SessionEpoch = id, 1
	c.ask(grow, 12)
	expect("two more", 1, 3)

	shrink := kmsg.NewPtrFetchRequest()
	shrink.MaxBytes, shrink.SessionID, shrink.SessionEpoch = 1<<20, id, 2
	gone := kmsg.NewFetchRequestForgottenTopic()
	gone.Topic, gone.Partitions = "a", []int32{0}
	shrink.ForgottenTopics = append(shrink.ForgottenTopics, gone)
	c.ask(shrink, 12)
	expect("one less", 1, 2)

	end := kmsg.NewPtrFetchRequest()
	end.MaxBytes, end.SessionID, end.SessionEpoch = 1<<20, id, -1
	c.ask(end, 12)
	expect("closed", 0, 0)
}
