package controller

// ResourceType is Kafka's number of a kind of configuration resource.
type ResourceType int8

// The kinds of resources that have stored configurations.
const (
	ResourceTopic         ResourceType = 2
	ResourceBroker        ResourceType = 4
	ResourceClientMetrics ResourceType = 16
	ResourceGroup         ResourceType = 32
)

// Resource names what has a configuration. For brokers the name is the id in decimal, or "" for all brokers.
type Resource struct {
	Type ResourceType
	Name string
}

// less orders resources by type, then name.
func (r Resource) less(o Resource) bool {
	if r.Type != o.Type {
		return r.Type < o.Type
	}
	return r.Name < o.Name
}
