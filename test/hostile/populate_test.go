package hostile

import (
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// api is one advertised API with the versions that both sides know.
type api struct{ key, min, max int16 }

// advertised asks the broker which APIs it has.
func advertised(t testing.TB) []api {
	t.Helper()
	resp, err := harness.Once(target.Addr, kmsg.NewPtrApiVersionsRequest())
	if err != nil {
		t.Fatal(err)
	}
	var apis []api
	for _, k := range resp.(*kmsg.ApiVersionsResponse).ApiKeys {
		req := kmsg.RequestForKey(k.ApiKey)
		if req == nil {
			continue
		}
		apis = append(apis, api{k.ApiKey, k.MinVersion, min(k.MaxVersion, req.MaxVersion())})
	}
	if len(apis) < 10 {
		t.Fatalf("only %d APIs advertised", len(apis))
	}
	return apis
}

// populated returns a request with every field set: numbers 1, strings "x", two entries in each array, valid records where there are records.
func populated(key, version int16) kmsg.Request {
	req := kmsg.RequestForKey(key)
	fill(reflect.ValueOf(req).Elem(), 0)
	req.SetVersion(version)
	if p, ok := req.(*kmsg.ProduceRequest); ok {
		p.TransactionID, p.Acks = nil, 1
		batch := harness.NewBatch(harness.Record{Timestamp: 1, Key: []byte("k"), Value: []byte("v"), Headers: []harness.Header{{Key: "h", Value: []byte("v")}}}).Bytes()
		for i := range p.Topics {
			for j := range p.Topics[i].Partitions {
				p.Topics[i].Partitions[j].Records = batch
			}
		}
	}
	return req
}

func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).CanSet() && name != "UnknownTags" && name != "Version" {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Slice:
		n := 2
		if depth > 4 {
			n = 1
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), depth+1)
		}
	case reflect.Array: // ids
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	}
}
