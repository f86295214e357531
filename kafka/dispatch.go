package kafka

import (
	"fmt"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
)

// handler answers a request that kmsg has decoded. It returns the answer, or nil when it answers later through
// request.respondLater; it never blocks.
type handler func(f *Frontend, r *request, req kmsg.Request) kmsg.Response

// api is one served API: either raw (reads the frame itself) or cold (through kmsg). Immutable.
type api struct {
	info *wire.API
	raw  func(f *Frontend, r *request)
	cold handler
}

// served reports whether the node answers the API, and so whether ApiVersions lists it.
func (a *api) served() bool { return a.raw != nil || a.cold != nil }

// fillTable names the handler of each API. An API is listed to clients exactly when it stands here.
func (f *Frontend) fillTable() {
	raw := func(key int16, h func(*Frontend, *request)) {
		f.table[key] = api{info: wire.Lookup(key), raw: h}
	}
	cold := func(key int16, h handler) {
		f.table[key] = api{info: wire.Lookup(key), cold: h}
	}
	raw(wire.KeyProduce, (*Frontend).produce)
	raw(wire.KeyFetch, (*Frontend).fetch)
	raw(wire.KeyApiVersions, (*Frontend).apiVersions)
	for key, h := range coldHandlers() {
		cold(key, h)
	}
}

// errUnserved ends a connection that asks for an API which this version does not list.
type errUnserved struct{ api *wire.API }

func (e errUnserved) Error() string {
	return fmt.Sprintf("%s (api key %d) is not served", e.api.Name, e.api.Key)
}

// dispatch hands a parsed request to its API.
func (f *Frontend) dispatch(r *request) {
	a := &f.table[r.hdr.API.Key]
	if !a.served() {
		r.fail(errUnserved{r.hdr.API})
		return
	}
	f.stats.request(r.hdr.API.Key)
	if a.raw != nil {
		a.raw(f, r)
		return
	}
	f.runCold(a, r)
}

// runCold decodes and runs a cold handler. A panic in one is a bug of ours that must not take the data path down:
// it is logged and ends the connection.
func (f *Frontend) runCold(a *api, r *request) {
	req := kmsg.RequestForKey(r.hdr.API.Key)
	if err := wire.DecodeRequest(req, r.hdr.Body, r.hdr.Version); err != nil {
		r.fail(fmt.Errorf("%s v%d: %w", a.info.Name, r.hdr.Version, err))
		return
	}
	defer func() {
		if p := recover(); p != nil {
			f.log.Error("a handler failed; its connection is closed", "api", a.info.Name, "version", r.hdr.Version,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if !r.done {
				r.fail(fmt.Errorf("%s failed: %v", a.info.Name, p))
			}
		}
	}()
	if resp := a.cold(f, r, req); resp != nil {
		r.respond(resp)
	}
}
