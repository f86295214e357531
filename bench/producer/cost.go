package producer

import "millrace/bench/rawgen"

// AppendCost measures, on this processor, what it takes to put a record into a batch, ns, beyond copying its bytes and closing the
// batch. It takes a few milliseconds.
func AppendCost() float64 {
	const records, rounds = 20_000, 5
	o := Options{BatchSize: 1 << 20}
	o.EnsureDefaults()
	value := make([]byte, 1)
	least := 0.0
	for range rounds {
		a := NewAccumulator(&o, []int{0}, 1)
		a.Append(0, value, 0, 0, 0) // takes the memory
		from := rawgen.Now()
		for range records {
			a.Append(0, value, from, from, from/1e6)
		}
		ns := float64(rawgen.Now()-from) / records
		if least == 0 || ns < least {
			least = ns
		}
	}
	return least
}
