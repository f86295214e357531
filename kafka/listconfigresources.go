package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/broker"
	"millrace/internal/config"
	"millrace/kafka/wire"
)

// listConfigResources answers ListConfigResources, versions 0 (client metrics only) and 1 (KIP-1142). No types stand for
// all of them; one that does not exist fails the request.
func (f *Frontend) listConfigResources(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.ListConfigResourcesRequest)
	resp := kmsg.NewPtrListConfigResourcesResponse()
	kinds := broker.ConfigResourceTypes
	switch {
	case r.hdr.Version == 0:
		kinds = []config.Scope{config.ClientMetrics}
	case len(req.ResourceTypes) > 0:
		kinds = nil
		seen := map[int8]bool{}
		for _, kind := range req.ResourceTypes {
			if !seen[kind] {
				seen[kind] = true
				kinds = append(kinds, config.Scope(kind))
			}
		}
	}
	for _, kind := range kinds {
		names, ok := f.node.ConfigResources(kind)
		if !ok {
			resp.ErrorCode, resp.ConfigResources = int16(wire.UnsupportedVersion), nil
			return resp
		}
		for _, name := range names {
			c := kmsg.NewListConfigResourcesResponseConfigResource()
			c.Name, c.Type = name, int8(kind)
			resp.ConfigResources = append(resp.ConfigResources, c)
		}
	}
	return resp
}
