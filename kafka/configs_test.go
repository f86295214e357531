package kafka

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/internal/config"
	"millrace/kafka/wire"
)

// alter is an IncrementalAlterConfigs request: "key=value" sets, "-key" deletes.
func alter(kind config.Scope, name string, changes ...string) *kmsg.IncrementalAlterConfigsRequest {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceType(kind), name
	for _, change := range changes {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		key, value, set := strings.Cut(change, "=")
		c.Name = strings.TrimPrefix(key, "-")
		if c.Op = kmsg.IncrementalAlterConfigOpDelete; set {
			c.Op, c.Value = kmsg.IncrementalAlterConfigOpSet, &value
		}
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	return req
}

func (c *client) alter(kind config.Scope, name string, changes ...string) wire.ErrorCode {
	c.t.Helper()
	return wire.ErrorCode(c.ask(alter(kind, name, changes...), 1).(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode)
}

func (c *client) describe(kind config.Scope, name string, keys ...string) kmsg.DescribeConfigsResponseResource {
	c.t.Helper()
	req := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceType(kind), name, keys
	req.Resources = append(req.Resources, r)
	return c.ask(req, 4).(*kmsg.DescribeConfigsResponse).Resources[0]
}

// value is what one key is described as, "" if it is not.
func (c *client) value(kind config.Scope, name, key string) string {
	c.t.Helper()
	for _, entry := range c.describe(kind, name, key).Configs {
		if entry.Name == key && entry.Value != nil {
			return *entry.Value
		}
	}
	return ""
}

func TestTopicConfigsChangeWhileInUse(t *testing.T) {
	c := newRig(t, 2).dial()
	c.topic("a", 1)
	big := records(time.Now().UnixMilli(), strings.Repeat("x", 5000))
	expectCode(t, "before", c.produce("a", 0, big).ErrorCode, wire.NoError)
	if code := c.alter(config.Topic, "a", "max.message.bytes=1000"); code != wire.NoError {
		t.Fatal(code.Name())
	}
	expectCode(t, "too large now", c.produce("a", 0, big).ErrorCode, wire.MessageTooLarge)
	if got := c.value(config.Topic, "a", "max.message.bytes"); got != "1000" {
		t.Errorf("described as %q", got)
	}
	c.alter(config.Topic, "a", "-max.message.bytes")
	expectCode(t, "set back", c.produce("a", 0, big).ErrorCode, wire.NoError)
	// The broker's value is the topics' default.
	if code := c.alter(config.Broker, "", "message.max.bytes=1000"); code != wire.NoError {
		t.Fatal(code.Name())
	}
	expectCode(t, "too large by default", c.produce("a", 0, big).ErrorCode, wire.MessageTooLarge)

	for _, q := range []struct {
		kind    config.Scope
		name    string
		changes []string
		want    wire.ErrorCode
	}{
		{config.Topic, "a", []string{"no.such.key=1"}, wire.InvalidConfig},
		{config.Topic, "a", []string{"retention.ms=x"}, wire.InvalidConfig},
		{config.Topic, "a", []string{"retention.ms=1", "retention.ms=2"}, wire.InvalidRequest},
		{config.Topic, "unknown", []string{"retention.ms=1"}, wire.UnknownTopicOrPartition},
		{config.Topic, "bad name", []string{"retention.ms=1"}, wire.InvalidTopicException},
		{config.Topic, "", []string{"retention.ms=1"}, wire.InvalidRequest},
		{config.Broker, "2", []string{"log.retention.ms=1"}, wire.InvalidRequest},
		{config.Broker, "1", []string{"num.partitions=3"}, wire.InvalidRequest},
		{config.Group, "", nil, wire.InvalidRequest},
		{config.Group, "g", []string{"consumer.session.timeout.ms=1"}, wire.InvalidConfig},
		{config.ClientMetrics, "m", []string{"no.such.key=1"}, wire.InvalidRequest},
		{config.Scope(3), "x", nil, wire.InvalidRequest},
	} {
		if code := c.alter(q.kind, q.name, q.changes...); code != q.want {
			t.Errorf("%d %q %v: %s, want %s", q.kind, q.name, q.changes, code.Name(), q.want.Name())
		}
	}
}

func TestAlterConfigsReplacesAndValidates(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("a", 1, "retention.ms", "1000", "segment.ms", "2000")
	replace := kmsg.NewPtrAlterConfigsRequest()
	r := kmsg.NewAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, "a"
	entry := kmsg.NewAlterConfigsRequestResourceConfig()
	value := "3000"
	entry.Name, entry.Value = "segment.ms", &value
	r.Configs = append(r.Configs, entry)
	replace.Resources = append(replace.Resources, r)
	replace.ValidateOnly = true
	for _, want := range []string{"1000", "604800000"} {
		expectCode(t, "replace", c.ask(replace, 2).(*kmsg.AlterConfigsResponse).Resources[0].ErrorCode, wire.NoError)
		if got := c.value(config.Topic, "a", "retention.ms"); got != want {
			t.Errorf("validate %t: retention.ms is %s, want %s", replace.ValidateOnly, got, want)
		}
		replace.ValidateOnly = false
	}
	// The same resource twice: neither counts.
	twice := alter(config.Topic, "a", "retention.ms=1")
	twice.Resources = append(twice.Resources, alter(config.Topic, "a", "segment.ms=1").Resources...)
	for _, got := range c.ask(twice, 1).(*kmsg.IncrementalAlterConfigsResponse).Resources {
		expectCode(t, "twice", got.ErrorCode, wire.InvalidRequest)
	}
	// An operation that does not exist fails all.
	odd := alter(config.Topic, "a", "retention.ms=1")
	odd.Resources[0].Configs[0].Op = 9
	c.topic("b", 1)
	odd.Resources = append(odd.Resources, alter(config.Topic, "b", "segment.ms=1").Resources...)
	for _, got := range c.ask(odd, 1).(*kmsg.IncrementalAlterConfigsResponse).Resources {
		expectCode(t, "odd operation", got.ErrorCode, wire.UnknownServerError)
	}
}

// Changes of one resource at the same time do not undo each other.
func TestConcurrentChangesAddUp(t *testing.T) {
	r := newRig(t, 2)
	r.dial().topic("a", 1)
	keys := []string{"retention.ms", "segment.ms", "flush.ms", "file.delete.delay.ms", "retention.bytes", "max.message.bytes"}
	var wait sync.WaitGroup
	for _, key := range keys {
		c := r.dial()
		wait.Add(1)
		go func() {
			defer wait.Done()
			if code := c.alter(config.Topic, "a", key+"=77777"); code != wire.NoError {
				t.Errorf("%s: %s", key, code.Name())
			}
		}()
	}
	wait.Wait()
	c := r.dial()
	for _, key := range keys {
		if got := c.value(config.Topic, "a", key); got != "77777" {
			t.Errorf("%s is %q", key, got)
		}
	}
}

func TestBrokerConfigsReachTheirListeners(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	var mu sync.Mutex
	var told []int32
	r.node.OnConfig(func(b *config.BrokerConfig) {
		mu.Lock()
		told = append(told, b.Dynamic.MaxConnectionsPerIP)
		mu.Unlock()
	})
	if code := c.alter(config.Broker, "1", "max.connections.per.ip=55"); code != wire.NoError {
		t.Fatal(code.Name())
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 2 || told[0] != 1<<31-1 || told[1] != 55 {
		t.Errorf("told %v", told)
	}
	if got := c.value(config.Broker, "1", "max.connections.per.ip"); got != "55" {
		t.Errorf("described as %q", got)
	}
	if got := len(c.describe(config.Broker, "1").Configs); got < 200 {
		t.Errorf("%d keys of the broker", got)
	}
	if got := c.describe(config.Broker, "7"); wire.ErrorCode(got.ErrorCode) != wire.InvalidRequest || len(got.Configs) != 0 {
		t.Errorf("another broker: %+v", got)
	}
}

func TestLoggersChangeTheirLevels(t *testing.T) {
	c := newRig(t, 1).dial()
	for _, step := range []struct {
		change             string
		want               wire.ErrorCode
		root, engine, node string
	}{
		{"engine=DEBUG", wire.NoError, "INFO", "DEBUG", "INFO"},
		{"root=ERROR", wire.NoError, "ERROR", "DEBUG", "ERROR"},
		{"-engine", wire.NoError, "ERROR", "ERROR", "ERROR"},
		{"root=LOUD", wire.InvalidConfig, "ERROR", "ERROR", "ERROR"},
		{"-root", wire.InvalidRequest, "ERROR", "ERROR", "ERROR"},
		{"nobody=INFO", wire.InvalidConfig, "ERROR", "ERROR", "ERROR"},
	} {
		if code := c.alter(config.BrokerLogger, "1", step.change); code != step.want {
			t.Errorf("%s: %s", step.change, code.Name())
		}
		for name, want := range map[string]string{"root": step.root, "engine": step.engine, "broker": step.node} {
			if got := c.value(config.BrokerLogger, "1", name); got != want {
				t.Errorf("after %s: %s is %s, want %s", step.change, name, got, want)
			}
		}
	}
}

func TestResourcesAreListed(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("a", 1)
	c.alter(config.Group, "g", "consumer.session.timeout.ms=50000")
	c.alter(config.ClientMetrics, "m", "interval.ms=1000")
	list := func(version int16, kinds ...int8) map[string]bool {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.ResourceTypes = kinds
		resp := c.ask(req, version).(*kmsg.ListConfigResourcesResponse)
		expectCode(t, "list", resp.ErrorCode, wire.NoError)
		names := map[string]bool{}
		for _, r := range resp.ConfigResources {
			names[r.Name] = true
		}
		return names
	}
	if got := list(0); len(got) != 1 || !got["m"] {
		t.Errorf("v0: %v", got)
	}
	if got := list(1); len(got) != 4 || !got["a"] || !got["g"] || !got["m"] || !got["1"] {
		t.Errorf("all: %v", got)
	}
	if got := list(1, 32, 32); len(got) != 1 || !got["g"] {
		t.Errorf("groups: %v", got)
	}
	c.alter(config.Group, "g", "-consumer.session.timeout.ms")
	if got := list(1, 32); len(got) != 0 {
		t.Errorf("groups after deletion: %v", got)
	}
	req := kmsg.NewPtrListConfigResourcesRequest()
	req.ResourceTypes = []int8{2, 3}
	expectCode(t, "unknown kind", c.ask(req, 1).(*kmsg.ListConfigResourcesResponse).ErrorCode, wire.UnsupportedVersion)
}
