package clients

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/cespare/xxhash/v2"
)

// job is what a client is given: write records to topic, or read the topic until end[p] in every partition.
type job struct {
	ctx        context.Context
	addr       string
	topic      string
	codec      string // name as Kafka spells it
	partitions int
	records    []record
	end        []int64 // log end offset per partition
	dir        string  // for temporary files
}

// total is the number of records to read.
func (j *job) total() int64 {
	var n int64
	for _, e := range j.end {
		n += e
	}
	return n
}

// split returns the records of one partition.
func (j *job) split(p int) []record {
	var out []record
	for _, r := range j.records {
		if partitionOf(r.key, j.partitions) == p {
			out = append(out, r)
		}
	}
	return out
}

// client is one client library or tool.
type client struct {
	name       string
	partitions int // 0 means the usual number; 1 for tools that cannot choose a partition
	// produce writes j.records, each to its partition, in order, acknowledged by all.
	produce func(j *job) error
	// consume reads all partitions from offset 0 to j.end and gives each record to out, in order per partition.
	consume func(j *job, out *reading) error
	// headers, if set, is what the tool sends as headers in place of each record's own.
	headers    []header
	librdkafka bool
	// need returns why the client cannot run here, or "".
	need func() string
}

// reading judges what a consumer gives it: offsets without gap or repetition, and a hash over everything in it. Owned by one goroutine.
type reading struct {
	next  []int64
	bytes int64
	sums  []hash.Hash64
	err   error
}

func newReading(partitions int) *reading {
	r := &reading{next: make([]int64, partitions)}
	for range partitions {
		r.sums = append(r.sums, xxhash.New())
	}
	return r
}

// add takes one record.
func (r *reading) add(partition int, offset int64, key, value []byte, headers []header) {
	if r.err != nil {
		return
	}
	if partition < 0 || partition >= len(r.next) {
		r.err = fmt.Errorf("record of partition %d", partition)
		return
	}
	if offset != r.next[partition] {
		r.err = fmt.Errorf("partition %d: offset %d follows %d", partition, offset, r.next[partition]-1)
		return
	}
	r.next[partition]++
	r.bytes += int64(len(key) + len(value))
	h := r.sums[partition]
	sumBytes(h, key)
	sumBytes(h, value)
	for _, hd := range headers {
		sumBytes(h, []byte(hd.key))
		sumBytes(h, hd.value)
	}
	sumBytes(h, nil)
}

// done reports whether every partition was read up to its end.
func (r *reading) done(end []int64) bool {
	for p, e := range end {
		if r.next[p] < e {
			return r.err != nil
		}
	}
	return true
}

// equals compares with what should have been read.
func (r *reading) equals(want *reading) error {
	if r.err != nil {
		return r.err
	}
	for p := range want.next {
		if r.next[p] != want.next[p] {
			return fmt.Errorf("partition %d: %d records, want %d", p, r.next[p], want.next[p])
		}
		if r.sums[p].Sum64() != want.sums[p].Sum64() {
			return fmt.Errorf("partition %d: the hash over %d records differs: keys, values, headers or their order are not what was sent", p, r.next[p])
		}
	}
	return nil
}

func sumBytes(h hash.Hash64, b []byte) {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(b)))
	h.Write(size[:])
	h.Write(b)
}

// expected is the reading that the records of a producer should give.
func expected(c *client, records []record, n int) *reading {
	r := newReading(n)
	for _, rec := range records {
		headers := rec.headers
		if c.headers != nil {
			headers = c.headers
		}
		p := partitionOf(rec.key, n)
		r.add(p, r.next[p], rec.key, rec.value, headers)
	}
	return r
}
