package wire

import (
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fill puts random values into a kmsg message: small arrays, short strings,
// nulls where pointers allow them, and unknown tags.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && r.IntN(3) == 0 {
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(r, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeOf(kmsg.Tags{}) {
			tags := v.Addr().Interface().(*kmsg.Tags)
			for n := r.IntN(3) / 2 * r.IntN(3); n > 0; n-- {
				tags.Set(uint32(100+r.IntN(1000)), make([]byte, r.IntN(5)))
			}
			return
		}
		for i := 0; i < v.NumField(); i++ {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Version" {
				fill(r, v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(strings.Repeat("b", r.IntN(4)*r.IntN(60))))
			return
		}
		n := r.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := 0; i < n; i++ {
			fill(r, v.Index(i))
		}
	case reflect.Array:
		for i := 0; i < v.Len(); i++ {
			v.Index(i).SetUint(uint64(r.IntN(256)))
		}
	case reflect.String:
		v.SetString(strings.Repeat("s", r.IntN(3)*r.IntN(80)))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(r.Uint32()))
	case reflect.Float64:
		v.SetFloat(r.Float64())
	}
}

// random is a message of req's kind at version, filled and read back, so that
// it holds only what the version carries.
func random(r *rand.Rand, key, version int16) (req kmsg.Request, body []byte) {
	req = kmsg.RequestForKey(key)
	fill(r, reflect.ValueOf(req).Elem())
	req.SetVersion(version)
	withoutEarlyTags(req)
	body = req.AppendTo(nil)
	back := kmsg.RequestForKey(key)
	back.SetVersion(version)
	if err := back.ReadFrom(body); err != nil {
		panic(err)
	}
	return back, body
}

// withoutEarlyTags resets what kmsg would write as a tag though the version has
// none: kmsg does not look at the version there.
func withoutEarlyTags(req kmsg.Request) {
	f, ok := req.(*kmsg.FetchRequest)
	if !ok {
		return
	}
	fresh := kmsg.NewFetchRequestTopicPartition()
	if f.Version < 15 {
		f.ReplicaState = kmsg.NewFetchRequestReplicaState()
	}
	for i := range f.Topics {
		for j := range f.Topics[i].Partitions {
			p := &f.Topics[i].Partitions[j]
			if f.Version < 17 {
				p.ReplicaDirectoryID = fresh.ReplicaDirectoryID
			}
			if f.Version < 18 {
				p.HighWatermark = fresh.HighWatermark
			}
		}
	}
}

// seeded makes a test's source of randomness.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
