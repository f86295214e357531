package kafkatool

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
)

func (c *configCommand) describe(n entity) error {
	names, err := c.existing(n.kind)
	if err != nil {
		return err
	}
	list := []string{n.name}
	switch {
	case !n.named:
		list = names
		if n.kind == "brokers" {
			list = append(list, "") // the default last
		}
	case n.name != "" && !c.all && !slices.Contains(names, n.name):
		c.e.println("The %s '%s' doesn't exist and doesn't have dynamic config.", strings.TrimSuffix(n.kind, "s"), n.name)
		return nil
	}
	for _, name := range list {
		if err := c.describeOne(n.kind, name); err != nil {
			return err
		}
	}
	return nil
}

// existing lists the entities that are there or have a configuration, sorted.
func (c *configCommand) existing(kind string) ([]string, error) {
	var out []string
	switch kind {
	case "topics":
		md, err := metadata(c.e, c.cl, nil)
		if err != nil {
			return nil, err
		}
		return topicNames(md, true), nil
	case "brokers", "broker-loggers":
		md, err := metadata(c.e, c.cl, []string{})
		if err != nil {
			return nil, err
		}
		for _, b := range brokers(md) {
			out = append(out, strconv.Itoa(int(b.NodeID)))
		}
	case "groups":
		list, err := listGroups(c.e.Ctx, c.cl, nil, nil)
		if err == nil {
			for _, g := range list {
				out = append(out, g.Group)
			}
		}
	}
	req := kmsg.NewPtrListConfigResourcesRequest()
	req.ResourceTypes = []int8{int8(resourceTypes[kind])}
	if resp, err := ask[*kmsg.ListConfigResourcesResponse](c.e, c.cl, req); err == nil {
		for _, r := range resp.ConfigResources {
			if r.Type == int8(resourceTypes[kind]) && r.Name != "" && !slices.Contains(out, r.Name) {
				out = append(out, r.Name)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if kind == "brokers" {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return x - y
		}
		return strings.Compare(a, b)
	})
	return out, nil
}

// ownSource is where what was set for an entity itself comes from.
func ownSource(kind, name string) kmsg.ConfigSource {
	switch {
	case kind == "brokers" && name == "":
		return kmsg.ConfigSourceDynamicDefaultBrokerConfig
	case kind == "brokers":
		return kmsg.ConfigSourceDynamicBrokerConfig
	case kind == "topics":
		return kmsg.ConfigSourceDynamicTopicConfig
	case kind == "client-metrics":
		return 7
	case kind == "groups":
		return 8
	}
	return kmsg.ConfigSourceDynamicBrokerLoggerConfig
}

func (c *configCommand) describeOne(kind, name string) error {
	what, all := "Dynamic", c.all
	if all {
		what = "All"
	}
	if name == "" {
		c.e.println("Default configs for %s in the cluster are:", kind)
	} else {
		c.e.println("%s configs for %s %s are:", what, strings.TrimSuffix(kind, "s"), name)
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = resourceTypes[kind], name
	req.Resources = append(req.Resources, r)
	resp, err := ask[*kmsg.DescribeConfigsResponse](c.e, c.cl, req)
	if err != nil {
		return err
	}
	for i := range resp.Resources {
		r := &resp.Resources[i]
		if err := conn.Code(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
		slices.SortFunc(r.Configs, func(a, b kmsg.DescribeConfigsResponseResourceConfig) int { return strings.Compare(a.Name, b.Name) })
		for j := range r.Configs {
			if e := &r.Configs[j]; all && name != "" || e.Source == ownSource(kind, name) || kind == "broker-loggers" {
				c.e.println("  %s=%s sensitive=%v synonyms={%s}", e.Name, text(e.Value), e.IsSensitive, synonyms(e))
			}
		}
	}
	return nil
}

func synonyms(e *kmsg.DescribeConfigsResponseResourceConfig) string {
	var out []string
	for _, s := range e.ConfigSynonyms {
		out = append(out, sourceName(s.Source)+":"+s.Name+"="+text(s.Value))
	}
	return strings.Join(out, ", ")
}

func sourceName(s kmsg.ConfigSource) string {
	names := map[kmsg.ConfigSource]string{1: "DYNAMIC_TOPIC_CONFIG", 2: "DYNAMIC_BROKER_CONFIG", 3: "DYNAMIC_DEFAULT_BROKER_CONFIG", 4: "STATIC_BROKER_CONFIG",
		5: "DEFAULT_CONFIG", 6: "DYNAMIC_BROKER_LOGGER_CONFIG", 7: "DYNAMIC_CLIENT_METRICS_CONFIG", 8: "DYNAMIC_GROUP_CONFIG"}
	if n, ok := names[s]; ok {
		return n
	}
	return "UNKNOWN"
}
