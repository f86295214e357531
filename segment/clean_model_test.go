package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/segment/batch"
)

// TestCleanModel does everything at random and holds the log against a map.
func TestCleanModel(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for seed := range uint64(rounds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { cleanModel(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func cleanModel(t *testing.T, rng *rand.Rand) {
	m := newMemDir(t)
	p := testParams()
	p.Options.SegmentBytes = 2000
	l := mustCreate(t, m, p)
	want := map[string]string{}
	now := int64(10_000)
	point, cleaned := int64(0), int64(0)
	for step := range 400 {
		switch n := rng.IntN(20); {
		case n < 13:
			var recs []kv
			for range 1 + rng.IntN(6) {
				k := fmt.Sprint("k", rng.IntN(25))
				if rng.IntN(4) == 0 {
					recs = append(recs, del(k))
					delete(want, k)
					continue
				}
				v := fmt.Sprint(step, "-", string(value(1, rng.IntN(60))))
				recs = append(recs, put(k, v))
				want[k] = v
			}
			must(t, appendAll(l, nil, kvBatch(l.End(), now, batch.Codec(rng.IntN(5)), recs...)))
		case n < 14:
			roll(t, l)
		case n < 15:
			now += int64(rng.IntN(2000))
			l.Tick(now)
			must(t, runJobs(l))
		case n < 18:
			o := cleanSettings(l, now)
			if rng.IntN(3) == 0 {
				o.MapBytes = 1
			}
			_, err := cleanLog(l, o, nil)
			must(t, err)
			point, cleaned = l.RecoveryPoint(), l.CleanedTo()
		case n < 19:
			must(t, syncLog(l))
			l.Abandon()
			im := m.Image(rng.Uint64())
			p.RecoveryPoint, p.Clean, p.NowMs = point, false, now
			var rep Report
			var err error
			if l, rep, err = Open(im, p); err != nil || len(rep.Damage) > 0 || rep.CutBytes > 0 {
				t.Fatalf("step %d: %v %+v", step, err, rep)
			}
			m = im
			l.SetCleanedTo(cleaned)
		default:
			end := l.End()
			must(t, l.Close(nil))
			q := p
			q.Clean, q.CleanEnd, q.RecoveryPoint, q.NowMs = true, end, end, now
			point = end
			var rep Report
			var err error
			if l, rep, err = Open(m, q); err != nil || len(rep.Damage) > 0 || rep.ScannedBytes > 0 {
				t.Fatalf("step %d: %v %+v", step, err, rep)
			}
			l.SetCleanedTo(cleaned)
		}
		if step%10 == 0 {
			checkState(t, fmt.Sprint("step ", step), l, want)
		}
	}
	checkState(t, "end", l, want)
	progress(t, l)
	must(t, runJobs(l))
	if res, err := Verify(m, testDir, DumpOptions{Records: true}); err != nil || len(res.Problems) > 0 {
		t.Errorf("%v %v", err, res.Problems)
	}
	l.Abandon()
}

func TestCleanShrinks(t *testing.T) {
	n := int64(1_000_000)
	if testing.Short() {
		n = 100_000
	}
	m := newMemDir(t)
	p := testParams()
	p.Options.SegmentBytes = 8 << 20
	p.Options.IndexIntervalBytes = 4096
	l := mustCreate(t, m, p)
	rng := rand.New(rand.NewPCG(1, 2))
	latest := map[string]string{}
	for l.End() < n {
		var recs []kv
		for range 500 {
			k, v := fmt.Sprint("key-", rng.IntN(10_000)), fmt.Sprint(l.End(), "/", len(recs))
			recs = append(recs, put(k, v))
			latest[k] = v
		}
		must(t, appendAll(l, nil, kvBatch(l.End(), l.End(), 0, recs...)))
	}
	roll(t, l)
	before := l.Size()
	s := mustClean(t, l, cleanSettings(l, 1))
	if l.Size() > before*25_000/n || s.Keys != 10_000 || s.RecordsWritten != 10_000 {
		t.Errorf("%d of %d bytes, %+v", l.Size(), before, s)
	}
	checkState(t, "cleaned", l, latest)
	l.Abandon()
}
