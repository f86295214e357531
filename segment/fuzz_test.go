package segment

import (
	"bytes"
	"testing"

	"millrace/vfs"
)

// FuzzFormats feeds each decoder of a file format; what one accepts it must write back equal where the format has one
// form.
func FuzzFormats(f *testing.F) {
	e := []ProducerEntry{{ProducerID: 1, Epoch: 2, CoordinatorEpoch: -1, TxnFirstOffset: -1, Count: 1, Batches: [5]ProducerBatch{{LastSequence: 4, OffsetDelta: 4, LastOffset: 9, Timestamp: 8}}, Timestamp: 8}}
	s := sum{Base: 5, Pos: 100, End: 9, Batches: 1, Chained: true}
	for kind, b := range [][]byte{
		encodeSnapshot(e), encodeWindow(e, 7), s.encode(), appendIndexEntry(nil, indexEntry{1, 1, 70}), appendTimeEntry(nil, timeEntry{5, 1}),
		formatOffsets([]OffsetEntry{{"t", 1, 2}}), formatEpochs([]EpochEntry{{1, 2}, {3, 4}}), formatMeta(Meta{ClusterID: "c", NodeID: 1}),
		[]byte("version: 0\ntopic_id: Jqgrn_kuQoGOrhdFbELZ0A"), formatDamage([]Damage{{Pos: 1, Len: 2, FromOffset: 3, NextOffset: 4}}),
		appendDigestLine(append([]byte(cleanMagic+"\nboot b\n"), formatOffsets(nil)...)),
	} {
		f.Add(byte(kind), b)
		f.Add(byte(kind), append(b, make([]byte, 24)...))
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		switch kind % 11 {
		case 0:
			if e, err := decodeSnapshot(b); err == nil && len(e) > 0 && e[0].Count == 1 && len(e) == 1 && !bytes.Equal(encodeSnapshot(e), b) {
				t.Fatal("snapshot changed")
			}
		case 1:
			if e, err := decodeWindow(b, 7); err == nil && !bytes.Equal(encodeWindow(e, 7), b) {
				t.Fatal("window changed")
			}
		case 2:
			if s, err := decodeSum(b); err == nil && s.Pos < 0 {
				t.Fatal("sum")
			}
		case 3:
			if e, err := decodeIndex(b, 1<<31); err == nil && len(e)*indexEntrySize > len(b) {
				t.Fatal("index")
			}
		case 4:
			if e, err := decodeTimeIndex(b); err == nil && len(e)*timeEntrySize > len(b) {
				t.Fatal("time index")
			}
		case 5:
			if e, err := parseOffsets(b); err == nil {
				if again, err := parseOffsets(formatOffsets(e)); err != nil || len(again) != len(e) {
					t.Fatalf("checkpoint %v %v", e, err)
				}
			}
		case 6:
			if e, err := parseEpochs(b); err == nil {
				if again, err := parseEpochs(formatEpochs(e)); err != nil || len(again) != len(e) {
					t.Fatalf("epochs %v %v", e, err)
				}
			}
		case 7:
			if m, err := parseMeta(b); err == nil && m.ClusterID == "" {
				t.Fatal("meta")
			}
		case 8:
			if id, err := parsePartitionMeta(b); err == nil {
				if again, err := ParseID(FormatID(id)); err != nil || again != id {
					t.Fatal("id")
				}
			}
		case 9:
			if l, err := parseDamage(b); err == nil {
				if again, err := parseDamage(formatDamage(l)); err != nil || len(again) != len(l) {
					t.Fatal("damage")
				}
			}
		case 10:
			_, _, _ = parseCleanMark(b)
		}
	})
}

// FuzzOpen opens a directory whose log file is whatever comes, and reads what is left of it.
func FuzzOpen(f *testing.F) {
	good := append(append([]byte(nil), testBatch(0, 0, 3, 1, 10)...), testBatch(3, 0, 2, 5, 10)...)
	f.Add(good, int64(0))
	f.Add(good, int64(3))
	f.Add(good[:len(good)-5], int64(5))
	bad := append([]byte(nil), good...)
	bad[8] = 0x7f
	f.Add(bad, int64(5))
	f.Fuzz(func(t *testing.T, data []byte, rp int64) {
		m := vfs.NewMem()
		must(t, m.MkdirAll(testDir))
		must(t, m.WriteFileAtomic(fileName(testDir, 0, suffixLog), data))
		p := testParams()
		p.RecoveryPoint = rp
		l, rep, err := Open(m, p)
		if err != nil {
			t.Fatalf("%v %+v", err, rep)
		}
		end := l.End()
		v := l.View()
		for o := v.Start(); o < min(end, 200); o++ {
			if pos, err := v.FindBlocking(o); err == nil {
				if _, err := v.SliceBlocking(pos, 100, end, true); err != nil {
					t.Fatalf("slice at %d: %v", o, err)
				}
			}
		}
		v.Release()
		if end < 1<<40 {
			must(t, appendAll(l, nil, testBatch(l.End(), l.Epochs().Last()+1, 2, 1, 10)))
			l.Abandon()
			l, rep, err = Open(m, p)
			if err != nil || l.End() < end+2 {
				t.Fatalf("second start: end %d, want %d: %v %+v", l.End(), end+2, err, rep)
			}
		}
		l.Abandon()
	})
}
