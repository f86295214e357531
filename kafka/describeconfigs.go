package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/broker"
	"millrace/internal/config"
	"millrace/kafka/wire"
)

// describeConfigs answers DescribeConfigs, versions 1 to 4. The keys of a broker take some ms to put together: a worker
// does it.
func (f *Frontend) describeConfigs(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DescribeConfigsRequest)
	resp := kmsg.NewPtrDescribeConfigsResponse()
	if code, text := unknownResource(req); code != wire.NoError {
		for i := range req.Resources {
			d := describedResource(&req.Resources[i])
			d.ErrorCode, d.ErrorMessage = int16(code), &text
			resp.Resources = append(resp.Resources, d)
		}
		return resp
	}
	r.conn.ls.loop.Offload(func() {
		for i := range req.Resources {
			resp.Resources = append(resp.Resources, f.describeResource(&req.Resources[i], req))
		}
	}, func() { r.respond(resp) })
	return nil
}

// unknownResource finds a resource type that does not exist; as in Kafka one of them fails the whole request.
func unknownResource(req *kmsg.DescribeConfigsRequest) (wire.ErrorCode, string) {
	for i := range req.Resources {
		switch config.Scope(req.Resources[i].ResourceType) {
		case config.Topic, config.Broker, config.BrokerLogger, config.ClientMetrics, config.Group:
		default:
			return wire.InvalidRequest, "the request names a resource of a type that does not exist"
		}
	}
	return wire.NoError, ""
}

func describedResource(q *kmsg.DescribeConfigsRequestResource) kmsg.DescribeConfigsResponseResource {
	d := kmsg.NewDescribeConfigsResponseResource()
	d.ResourceType, d.ResourceName = q.ResourceType, q.ResourceName
	return d
}

func (f *Frontend) describeResource(q *kmsg.DescribeConfigsRequestResource, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResource {
	d := describedResource(q)
	text := ""
	d.ErrorMessage = &text
	entries, err := f.node.DescribeConfigs(broker.ConfigResource{Type: config.Scope(q.ResourceType), Name: q.ResourceName}, q.ConfigNames)
	if err != nil {
		d.ErrorCode, text = err.Code, err.Message
		return d
	}
	logger := config.Scope(q.ResourceType) == config.BrokerLogger
	d.Configs = make([]kmsg.DescribeConfigsResponseResourceConfig, len(entries))
	for i := range entries {
		describeEntry(&entries[i], req, &d.Configs[i])
		if logger {
			d.Configs[i].Documentation = &entries[i].Doc // Kafka answers "" here, asked or not
		}
	}
	return d
}

func describeEntry(e *config.Entry, req *kmsg.DescribeConfigsRequest, c *kmsg.DescribeConfigsResponseResourceConfig) {
	*c = kmsg.NewDescribeConfigsResponseResourceConfig()
	c.Name, c.Value, c.ReadOnly, c.IsDefault, c.IsSensitive = e.Name, e.Value, e.ReadOnly, e.IsDefault, e.Sensitive
	c.Source, c.ConfigType = kmsg.ConfigSource(e.Source), kmsg.ConfigType(e.Type)
	if req.IncludeSynonyms {
		for _, s := range e.Synonyms {
			out := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			out.Name, out.Value, out.Source = s.Name, s.Value, kmsg.ConfigSource(s.Source)
			c.ConfigSynonyms = append(c.ConfigSynonyms, out)
		}
	}
	if req.IncludeDocumentation && e.Doc != "" {
		c.Documentation = &e.Doc
	}
}
