package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/broker"
	"millrace/internal/config"
	"millrace/kafka/wire"
)

// incrementalAlterConfigs answers IncrementalAlterConfigs, versions 0 and 1, when the changes have effect (KIP-339).
func (f *Frontend) incrementalAlterConfigs(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.IncrementalAlterConfigsRequest)
	changes := make([]broker.ConfigChange, len(req.Resources))
	for i := range req.Resources {
		q := &req.Resources[i]
		changes[i].Resource = broker.ConfigResource{Type: config.Scope(q.ResourceType), Name: q.ResourceName}
		for _, c := range q.Configs {
			changes[i].Ops = append(changes[i].Ops, config.Op{Kind: config.OpKind(c.Op), Name: c.Name, Value: c.Value})
		}
	}
	f.node.AlterConfigs(changes, req.ValidateOnly, func(out []*config.AlterError) {
		resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
		for i, err := range out {
			a := kmsg.NewIncrementalAlterConfigsResponseResource()
			a.ResourceType, a.ResourceName = req.Resources[i].ResourceType, req.Resources[i].ResourceName
			a.ErrorCode, a.ErrorMessage = altered(err)
			resp.Resources = append(resp.Resources, a)
		}
		r.respondLater(resp)
	})
	return nil
}

// alterConfigs answers AlterConfigs, versions 0 to 2, which replaces all values of a resource.
func (f *Frontend) alterConfigs(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.AlterConfigsRequest)
	changes := make([]broker.ConfigChange, len(req.Resources))
	for i := range req.Resources {
		q := &req.Resources[i]
		changes[i].Resource = broker.ConfigResource{Type: config.Scope(q.ResourceType), Name: q.ResourceName}
		changes[i].Replace = true
		for _, c := range q.Configs {
			changes[i].Ops = append(changes[i].Ops, config.Op{Kind: config.OpSet, Name: c.Name, Value: c.Value})
		}
	}
	f.node.AlterConfigs(changes, req.ValidateOnly, func(out []*config.AlterError) {
		resp := kmsg.NewPtrAlterConfigsResponse()
		for i, err := range out {
			a := kmsg.NewAlterConfigsResponseResource()
			a.ResourceType, a.ResourceName = req.Resources[i].ResourceType, req.Resources[i].ResourceName
			a.ErrorCode, a.ErrorMessage = altered(err)
			resp.Resources = append(resp.Resources, a)
		}
		r.respondLater(resp)
	})
	return nil
}

// altered restates the outcome for one resource. Kafka says nothing about errors of its own.
func altered(err *config.AlterError) (code int16, message *string) {
	switch {
	case err == nil:
		return int16(wire.NoError), nil
	case err.Code == int16(wire.UnknownServerError):
		return err.Code, nil
	}
	return err.Code, &err.Message
}
