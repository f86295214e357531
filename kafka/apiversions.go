package kafka

import (
	"regexp"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/broker"
	"millrace/kafka/wire"
)

// softwareWord is what a client may call itself and its version (KIP-511).
var softwareWord = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)

// apiVersions answers ApiVersions, versions 0 to 5. A version above ours is answered in the layout of version 0 with
// error 35 and our range of this API alone, and the connection goes on (KIP-511).
func (f *Frontend) apiVersions(r *request) {
	resp := kmsg.NewPtrApiVersionsResponse()
	if r.hdr.Refused {
		r.hdr.Version = 0
		resp.ErrorCode = int16(wire.UnsupportedVersion)
		resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{rangeOf(r.hdr.API)}
		r.respond(resp)
		return
	}
	req := kmsg.NewPtrApiVersionsRequest()
	if err := wire.DecodeRequest(req, r.hdr.Body, r.hdr.Version); err != nil {
		r.fail(err)
		return
	}
	if r.hdr.Version >= 3 {
		if code := f.checkApiVersions(req, r.hdr.Version); code != wire.NoError {
			resp.ErrorCode = int16(code)
			r.respond(resp)
			return
		}
		r.conn.clientName, r.conn.clientVersion = req.ClientSoftwareName, req.ClientSoftwareVersion
	}
	for key := range f.table {
		if a := &f.table[key]; a.served() {
			resp.ApiKeys = append(resp.ApiKeys, rangeOf(a.info))
		}
	}
	if r.hdr.Version >= 3 {
		f.addFeatures(resp, r.hdr.Version)
	}
	r.respond(resp)
}

// checkApiVersions checks what the client says of itself, and from version 5 on which node of which cluster it wants (KIP-1242):
// both or neither, and if it is not this one it should look up its brokers anew.
func (f *Frontend) checkApiVersions(req *kmsg.ApiVersionsRequest, version int16) wire.ErrorCode {
	switch {
	case !softwareWord.MatchString(req.ClientSoftwareName), !softwareWord.MatchString(req.ClientSoftwareVersion),
		version >= 5 && (req.ClusterID == nil) != (req.NodeID == -1):
		return wire.InvalidRequest
	case version >= 5 && req.ClusterID != nil && (*req.ClusterID != f.node.ClusterID() || req.NodeID != f.node.ID()):
		return wire.RebootstrapRequired
	}
	return wire.NoError
}

func rangeOf(a *wire.API) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = a.Key, a.Min, a.Max
	return k
}

// addFeatures lists the supported and the finalized features (KIP-584). Versions below 4 must not see a feature that
// starts at 0: older Java clients fail to read it.
func (f *Frontend) addFeatures(resp *kmsg.ApiVersionsResponse, version int16) {
	for _, s := range broker.SupportedFeatures() {
		if s.Min == 0 && version < 4 {
			continue
		}
		k := kmsg.NewApiVersionsResponseSupportedFeature()
		k.Name, k.MinVersion, k.MaxVersion = s.Name, s.Min, s.Max
		resp.SupportedFeatures = append(resp.SupportedFeatures, k)
	}
	image := f.node.Image()
	resp.FinalizedFeaturesEpoch = int64(image.Index())
	for _, s := range broker.SupportedFeatures() {
		level, ok := image.Features()[s.Name]
		if !ok {
			continue
		}
		k := kmsg.NewApiVersionsResponseFinalizedFeature()
		k.Name, k.MinVersionLevel, k.MaxVersionLevel = s.Name, level, level
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, k)
	}
}
