package bugs

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// lookup asks for a timestamp and returns what came: offset and timestamp of the record found.
func lookup(t *testing.T, c *harness.Conn, name string, timestamp int64) (int64, int64) {
	t.Helper()
	p := do[*kmsg.ListOffsetsResponse](t, c, harness.ListOffsets(name, 0, timestamp, 0)).Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		t.Fatalf("ListOffsets at %d: error %d", timestamp, p.ErrorCode)
	}
	return p.Offset, p.Timestamp
}

// TestTimeLookupInsideABatch (B01): a lookup by time finds the record, not its batch, in every codec.
func TestTimeLookupInsideABatch(t *testing.T) {
	c := dial(t)
	for codec, codecName := range harness.Codecs {
		t.Run(codecName, func(t *testing.T) {
			name := topic(t, "b01", 1, "retention.ms", "-1")
			b := harness.NewBatch()
			b.Codec = codec
			for ts := int64(1); ts <= 50; ts++ {
				b.Records = append(b.Records, harness.Record{Timestamp: ts, Value: []byte("the same text over and over, so that it packs")})
			}
			harness.MustProduce(t, c, name, 0, b.Bytes())
			for ts := int64(1); ts <= 50; ts++ {
				if offset, at := lookup(t, c, name, ts); offset != ts-1 || at != ts {
					t.Errorf("time %d: offset %d with time %d, want offset %d", ts, offset, at, ts-1)
				}
			}
			if offset, at := lookup(t, c, name, 51); offset != -1 || at != -1 {
				t.Errorf("time after the last record: offset %d, time %d, want -1 and -1", offset, at)
			}
		})
	}
}

// TestTimeLookupBetweenRecords (B03): the first record at or after the time asked for, whether the records share a batch and whether their
// times are in order.
func TestTimeLookupBetweenRecords(t *testing.T) {
	c := dial(t)
	cases := []struct {
		name  string
		times []int64
		want  []int64 // offsets for the times 2 to 9
	}{
		{"in order", []int64{2, 4, 6, 8}, []int64{0, 1, 1, 2, 2, 3, 3, -1}},
		{"out of order", []int64{8, 2, 6, 4}, []int64{0, 0, 0, 0, 0, 0, 0, -1}},
		{"peak in the middle", []int64{2, 8, 4, 6}, []int64{0, 1, 1, 1, 1, 1, 1, -1}},
	}
	for _, cs := range cases {
		for _, together := range []bool{false, true} {
			t.Run(cs.name+map[bool]string{false: ", a batch each", true: ", one batch"}[together], func(t *testing.T) {
				name := topic(t, "b03", 1, "retention.ms", "-1")
				batch := harness.NewBatch()
				for _, ts := range cs.times {
					if r := (harness.Record{Timestamp: ts, Value: []byte("x")}); together {
						batch.Records = append(batch.Records, r)
					} else {
						harness.MustProduce(t, c, name, 0, harness.NewBatch(r).Bytes())
					}
				}
				if together {
					harness.MustProduce(t, c, name, 0, batch.Bytes())
				}
				for i, want := range cs.want {
					ts := int64(i + 2)
					offset, at := lookup(t, c, name, ts)
					if offset != want {
						t.Errorf("time %d: offset %d, want %d", ts, offset, want)
					} else if want >= 0 && at != cs.times[want] {
						t.Errorf("time %d: found time %d, want %d", ts, at, cs.times[want])
					}
				}
			})
		}
	}
}

// TestTimeLookupAfterTheLastRecord: a time beyond all records is "not found", not the end of the log (protocol trap beside B03), and the
// special times say where the log begins, ends and is newest.
func TestTimeLookupAfterTheLastRecord(t *testing.T) {
	c := dial(t)
	name := topic(t, "b03-special", 1, "retention.ms", "-1")
	for _, special := range []int64{-1, -2} {
		if offset, _ := lookup(t, c, name, special); offset != 0 {
			t.Errorf("empty partition, time %d: offset %d, want 0", special, offset)
		}
	}
	for _, special := range []int64{-3, 5} {
		if offset, at := lookup(t, c, name, special); offset != -1 || at != -1 {
			t.Errorf("empty partition, time %d: offset %d, time %d, want -1 and -1", special, offset, at)
		}
	}
	for _, ts := range []int64{10, 30, 20} {
		harness.MustProduce(t, c, name, 0, one(ts, "x"))
	}
	if offset, at := lookup(t, c, name, -3); offset != 1 || at != 30 {
		t.Errorf("newest record: offset %d, time %d, want 1 and 30", offset, at)
	}
	if offset, _ := lookup(t, c, name, -1); offset != 3 {
		t.Errorf("end: offset %d, want 3", offset)
	}
	if offset, _ := lookup(t, c, name, now()); offset != -1 {
		t.Errorf("time after all records: offset %d, want -1", offset)
	}
}
