package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func ptr(s string) *string { return &s }

var samples = []Record{
	{Key{Type: TypeOffset, Group: "g", Topic: "t", Partition: 7}, &Offset{Offset: 5, LeaderEpoch: 2, Metadata: "m", CommitMs: 9, ExpireMs: -1}},
	{Key{Type: TypeOffset, Group: "", Topic: "t", Partition: -1}, &Offset{Offset: -1, LeaderEpoch: -1, CommitMs: 9, ExpireMs: 1234}},
	{Key{Type: TypeOffset, Group: "", Topic: "t", Partition: -1}, &Offset{Offset: -1, LeaderEpoch: -1, CommitMs: 9, ExpireMs: -1234}},
	{Key{Type: TypeOffset, Group: "ä組", Topic: "t", Partition: 1}, &Offset{Offset: 1 << 60, LeaderEpoch: -1, Metadata: strings.Repeat("x", 4000), CommitMs: 9, ExpireMs: -1, TopicID: [16]byte{1, 15: 2}}},
	{Key{Type: TypeOffset, Group: "g", Topic: "t"}, nil},
	{Key{Type: TypeClassicGroup, Group: "g"}, &ClassicGroup{StateMs: 5, Members: []ClassicMember{}}},
	{Key{Type: TypeClassicGroup, Group: "g"}, &ClassicGroup{ProtocolType: "consumer", Generation: 3, Protocol: ptr("range"), Leader: ptr("a"), StateMs: -1, Members: []ClassicMember{
		{MemberID: "a", InstanceID: ptr("i"), ClientID: "c", ClientHost: "/1.2.3.4", RebalanceTimeoutMs: 1, SessionTimeoutMs: 2, Subscription: []byte{1}, Assignment: []byte{}},
		{MemberID: "b", Subscription: []byte{}, Assignment: []byte{2, 3}}}}},
	{Key{Type: TypeConsumerGroup, Group: "g"}, &ConsumerGroup{Epoch: 3}},
	{Key{Type: TypeConsumerGroup, Group: "g"}, &ConsumerGroup{Epoch: 3, MetadataHash: -7553565439734651476}},
	{Key{Type: TypePartitionMetadata, Group: "g"}, &PartitionMetadata{Topics: []TopicMetadata{{ID: [16]byte{9}, Name: "t", Partitions: 3}}}},
	{Key{Type: TypeMember, Group: "g", Member: "m"}, &Member{ClientID: "c", ClientHost: "/h", SubscribedTopics: []string{"t", "u"}, SubscribedRegex: ptr(""), RebalanceTimeoutMs: 300000}},
	{Key{Type: TypeMember, Group: "g", Member: "m"}, &Member{InstanceID: ptr("i"), RackID: ptr("r"), SubscribedTopics: []string{}, RebalanceTimeoutMs: -1, ServerAssignor: ptr("range"),
		Classic: &ClassicProtocols{SessionTimeoutMs: 45000, Protocols: []Protocol{{"range", []byte{1, 2}}, {"rr", []byte{}}}}}},
	{Key{Type: TypeTarget, Group: "g"}, &Target{Epoch: 9, TimeMs: 1795981528676}},
	{Key{Type: TypeTarget, Group: "g"}, &Target{Epoch: 9}},
	{Key{Type: TypeTargetMember, Group: "g", Member: "m"}, &TargetMember{Topics: []TopicPartitions{{TopicID: [16]byte{1}, Partitions: []int32{0, 5}}}}},
	{Key{Type: TypeCurrent, Group: "g", Member: "m"}, &Current{Epoch: 2, PreviousEpoch: 1, State: 127, Assigned: []TopicPartitions{{TopicID: [16]byte{1}, Partitions: []int32{0, 1}, Epochs: []int32{2, 2}}},
		PendingRevocation: []TopicPartitions{{TopicID: [16]byte{2}, Partitions: []int32{}}}}},
	{Key{Type: TypeRegex, Group: "g", Regex: "a.*"}, &Regex{Topics: []string{"ab"}, Version: 4, TimeMs: 8}},
	{Key{Type: TypeRegex, Group: "g", Regex: "a.*"}, nil},
}

func encode(r Record) (key, value []byte) {
	key = r.Key.AppendTo(nil)
	if r.Value != nil {
		value = r.Value.AppendTo(nil)
	}
	return key, value
}

func TestRoundTrip(t *testing.T) {
	for _, want := range samples {
		key, value := encode(want)
		got, err := Decode(key, value)
		if err != nil {
			t.Errorf("%+v: %v", want.Key, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got %+v, want %+v", want.Key, got.Value, want.Value)
		}
		if want.Value != nil && want.Value.valueType() != want.Key.Type {
			t.Errorf("%T says that it is of type %d", want.Value, want.Value.valueType())
		}
	}
}

// TestCutAndOverlong: a record that lost or gained a byte is no record.
func TestCutAndOverlong(t *testing.T) {
	for _, r := range samples {
		key, value := encode(r)
		for n := range key {
			if _, err := DecodeKey(key[:n]); err == nil {
				t.Errorf("%+v: the first %d bytes of the key pass", r.Key, n)
			}
		}
		if _, err := DecodeKey(append(key, 0)); err == nil {
			t.Errorf("%+v: a longer key passes", r.Key)
		}
		for n := range value {
			if _, err := DecodeValue(r.Key.Type, value[:n]); err == nil {
				t.Errorf("%+v: the first %d bytes of the value pass", r.Key, n)
			}
		}
		if value == nil {
			continue
		}
		if _, err := DecodeValue(r.Key.Type, append(value, 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: a longer value: %v", r.Key, err)
		}
	}
}

// TestOldVersions reads what Kafka wrote before.
func TestOldVersions(t *testing.T) {
	for _, c := range []struct {
		name string
		t    Type
		b    []byte
		want Value
	}{
		{"offset 0", TypeOffset, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 1, 'm', 0, 0, 0, 0, 0, 0, 0, 9}, &Offset{Offset: 5, LeaderEpoch: -1, Metadata: "m", CommitMs: 9, ExpireMs: -1}},
		{"offset 2", TypeOffset, []byte{0, 2, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}, &Offset{Offset: 5, LeaderEpoch: -1, CommitMs: 9, ExpireMs: -1}},
		{"offset 4 without id, unknown tag", TypeOffset, []byte{0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 2, 'm', 0, 0, 0, 0, 0, 0, 0, 9, 1, 9, 2, 1, 1}, &Offset{Offset: 5, LeaderEpoch: 3, Metadata: "m", CommitMs: 9, ExpireMs: -1}},
		{"group 0", TypeClassicGroup, []byte{0, 0, 0, 1, 'c', 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 1, 'm', 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0},
			&ClassicGroup{ProtocolType: "c", Generation: 2, StateMs: -1, Members: []ClassicMember{{MemberID: "m", SessionTimeoutMs: 8, RebalanceTimeoutMs: 8, Subscription: []byte{}, Assignment: []byte{}}}}},
		{"group 4", TypeClassicGroup, []byte{0, 4, 2, 'c', 0, 0, 0, 2, 2, 'p', 0, 0, 0, 0, 0, 0, 0, 0, 7, 2, 2, 'm', 0, 1, 1, 0, 0, 0, 6, 0, 0, 0, 8, 2, 1, 1, 0, 0},
			&ClassicGroup{ProtocolType: "c", Generation: 2, Protocol: ptr("p"), StateMs: 7, Members: []ClassicMember{{MemberID: "m", SessionTimeoutMs: 8, RebalanceTimeoutMs: 6, Subscription: []byte{1}, Assignment: []byte{}}}}},
		{"member without the classic field", TypeMember, []byte{0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0}, &Member{SubscribedTopics: []string{}, RebalanceTimeoutMs: 1}},
	} {
		got, err := DecodeValue(c.t, c.b)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v %v, want %+v", c.name, got, err, c.want)
		}
	}
	legacy := append([]byte{0, 0}, (&Key{Type: TypeOffset, Group: "g", Topic: "t", Partition: 3}).AppendTo(nil)[2:]...)
	if r, err := Decode(legacy, nil); err != nil || r.Key != (Key{Type: TypeOffset, Group: "g", Topic: "t", Partition: 3}) {
		t.Errorf("a key of type 0: %+v %v", r, err)
	}
}

func TestUnknown(t *testing.T) {
	for _, n := range []byte{9, 15, 17, 200} {
		if _, err := DecodeKey([]byte{0, n, 0, 0}); !errors.Is(err, ErrUnknownType) {
			t.Errorf("type %d: %v", n, err)
		}
	}
	for ty, newest := range newestVersion {
		if _, err := DecodeValue(ty, []byte{0, byte(newest + 1), 0}); !errors.Is(err, ErrUnknownVersion) {
			t.Errorf("type %d version %d: %v", ty, newest+1, err)
		}
	}
}

// TestCountsAreBounded: a few bytes cannot ask for much memory.
func TestCountsAreBounded(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x07}
	for _, c := range []struct {
		t Type
		b []byte
	}{
		{TypeTargetMember, append([]byte{0, 0}, huge...)},
		{TypeRegex, append([]byte{0, 0}, huge...)},
		{TypePartitionMetadata, append([]byte{0, 0}, huge...)},
		{TypeClassicGroup, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff}},
	} {
		if n := testing.AllocsPerRun(1, func() { _, _ = DecodeValue(c.t, c.b) }); n > 5 {
			t.Errorf("type %d: %v allocations", c.t, n)
		}
		if _, err := DecodeValue(c.t, c.b); !errors.Is(err, ErrMalformed) {
			t.Errorf("type %d: %v", c.t, err)
		}
	}
}

// recordsOf walks the record batches of a log, which are not compressed.
func recordsOf(t testing.TB, log []byte) (out [][2][]byte) {
	varint := func(b []byte) (int, []byte) {
		var u uint64
		for i := range b {
			u |= uint64(b[i]&0x7f) << (7 * i)
			if b[i] < 0x80 {
				return int(int64(u>>1) ^ -int64(u&1)), b[i+1:]
			}
		}
		t.Fatal("varint")
		return 0, nil
	}
	field := func(b []byte) ([]byte, []byte) {
		n, rest := varint(b)
		if n < 0 {
			return nil, rest
		}
		return rest[:n:n], rest[n:]
	}
	for len(log) > 0 {
		size := 12 + int(be.Uint32(log[8:]))
		count, b := int(be.Uint32(log[57:])), log[61:size]
		for range count {
			n, rest := varint(b)
			rec := rest[1:n]
			b = rest[n:]
			_, rec = varint(rec)
			_, rec = varint(rec)
			key, rec := field(rec)
			value, _ := field(rec)
			out = append(out, [2][]byte{key, value})
		}
		log = log[size:]
	}
	return out
}

// TestKafkasOwnBytes reads logs that Apache Kafka 4.4.0 wrote for a classic and a consumer group, and writes each record
// back to the same bytes.
func TestKafkasOwnBytes(t *testing.T) {
	files, err := filepath.Glob("testdata/kafka-4.4.0-*.log")
	if err != nil || len(files) != 2 {
		t.Fatalf("no logs: %v %v", files, err)
	}
	types := map[Type]int{}
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range recordsOf(t, log) {
			r, err := Decode(kv[0], kv[1])
			if err != nil {
				t.Errorf("%x %x: %v", kv[0], kv[1], err)
				continue
			}
			types[r.Key.Type]++
			key, value := encode(r)
			if !bytes.Equal(key, kv[0]) || !bytes.Equal(value, kv[1]) {
				t.Errorf("%+v\n got %x\nwant %x", r.Key, value, kv[1])
			}
		}
	}
	for _, ty := range []Type{TypeOffset, TypeClassicGroup, TypeConsumerGroup, TypeMember, TypeTarget, TypeTargetMember, TypeCurrent} {
		if types[ty] == 0 {
			t.Errorf("the logs hold no record of type %d", ty)
		}
	}
}

// FuzzDecode: what decodes, encodes to something that decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, r := range samples {
		key, value := encode(r)
		f.Add(key, value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, err := Decode(key, value)
		if err != nil {
			return
		}
		key, value = encode(r)
		again, err := Decode(key, value)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		o, isOffset := r.Value.(*Offset)
		if isOffset && o.ExpireMs != -1 {
			return // the one version that has an expiry has neither epoch nor id
		}
		if !reflect.DeepEqual(r, again) {
			t.Fatalf("%+v became %+v", r.Value, again.Value)
		}
	})
}
