package kafkatool

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
	"millrace/cli/jopt"
	"millrace/internal/config"
)

const configsHelp = "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics or group"

var configsTool = &tool{
	name:    "kafka-configs",
	class:   "org.apache.kafka.tools.ConfigCommand",
	about:   configsHelp,
	help:    configsHelp,
	options: configsOptions,
	run:     runConfigs,
	fail: func(e *Env, err error) error {
		var c *conn.Error
		if !errors.As(err, &c) && !errors.Is(err, conn.ErrNoBroker) {
			e.complain("%s", err)
			return Exit(1)
		}
		e.complain("Error while executing config command with args '%s'", strings.Join(e.args, " "))
		e.complain("java.util.concurrent.ExecutionException: %s: %s", conn.Class(err), plain(err))
		return Exit(1)
	},
}

func configsOptions() *jopt.Set {
	str := func(name, help string) jopt.Option {
		return jopt.Option{Names: []string{name}, Arg: jopt.Required, Help: help}
	}
	return common(jopt.New().
		Str("bootstrap-server", "server to connect to", "The brokers to ask.").
		Str("bootstrap-controller", "controller to connect to", "The controllers to ask.").
		Str("command-config", "command config property file", "Properties for the connection.").
		Flag("alter", "Change the configuration.").
		Flag("describe", "Show the configuration.").
		Flag("all", "With --describe: all keys, not only those that were set.").
		Add(str("entity-type", "topics, clients, users, brokers, broker-loggers, ips, client-metrics or groups.")).
		Add(str("entity-name", "Its name, or the id of a broker.")).
		Flag("entity-default", "The default of that type.").
		Add(str("add-config", "Keys to set: k1=v1,k2=[v21,v22,v23],k3=v3.")).
		Add(str("add-config-file", "The same from a property file.")).
		Add(str("delete-config", "Keys to unset: k1,k2.")).
		Add(str("topic", "Short for --entity-type topics --entity-name.")).
		Add(str("client", "Short for --entity-type clients --entity-name.")).
		Flag("client-defaults", "The defaults of clients.").
		Add(str("user", "Short for --entity-type users --entity-name.")).
		Flag("user-defaults", "The defaults of users.").
		Add(str("broker", "Short for --entity-type brokers --entity-name.")).
		Flag("broker-defaults", "The defaults of brokers.").
		Add(str("broker-logger", "Short for --entity-type broker-loggers --entity-name.")).
		Add(str("ip", "Short for --entity-type ips --entity-name.")).
		Flag("ip-defaults", "The defaults of addresses.").
		Add(str("group", "Short for --entity-type groups --entity-name.")).
		Add(str("client-metrics", "Short for --entity-type client-metrics --entity-name.")).
		Old(jopt.NoArg, "force"))
}

var entityTypes = []string{"broker-loggers", "topics", "clients", "users", "brokers", "ips", "client-metrics", "groups"}

// entity is what a call is about; the default of its type where named is set and name is empty, all of the type where named is not.
type entity struct {
	kind, name string
	named      bool
}

func (n *entity) isDefault() bool { return n.named && n.name == "" }

var entityFlags = []struct{ flag, kind string }{
	{"topic", "topics"}, {"client", "clients"}, {"user", "users"}, {"broker", "brokers"}, {"broker-logger", "broker-loggers"}, {"ip", "ips"},
	{"client-metrics", "client-metrics"}, {"group", "groups"},
}

func entitiesOf(v *jopt.Values) ([]entity, error) {
	var out []entity
	types, names := v.All("entity-type"), v.All("entity-name")
	// --entity-name and --entity-default belong to types in the order they stand.
	next := 0
	var places []entity
	for _, o := range v.Names() {
		switch o {
		case "entity-name":
			if next < len(names) {
				places = append(places, entity{name: names[next], named: true})
				next++
			}
		case "entity-default":
			places = append(places, entity{named: true})
		}
	}
	for i, t := range types {
		n := entity{kind: t}
		if i < len(places) {
			n.name, n.named = places[i].name, true
		}
		out = append(out, n)
	}
	if len(places) > len(types) && len(types) > 0 {
		return nil, errors.New("More entity names specified than entity types")
	}
	short := false
	for _, f := range entityFlags {
		for _, name := range v.All(f.flag) {
			out, short = append(out, entity{f.kind, name, true}), true
		}
	}
	for flag, kind := range map[string]string{"client-defaults": "clients", "user-defaults": "users", "broker-defaults": "brokers", "ip-defaults": "ips"} {
		if v.Has(flag) {
			out, short = append(out, entity{kind, "", true}), true
		}
	}
	if short && v.HasAny("entity-name", "entity-type", "entity-default") {
		return nil, errors.New("--entity-{type,name,default} should not be used in conjunction with specific entity flags")
	}
	return out, nil
}

func checkConfigs(v *jopt.Values) ([]entity, error) {
	if v.Has("alter") == v.Has("describe") {
		return nil, usagef("Command must include exactly one action: --describe, --alter")
	}
	if err := exclude(v, "describe", "add-config", "delete-config"); err != nil {
		return nil, err
	}
	list, err := entitiesOf(v)
	if err != nil {
		return nil, err
	}
	for i, n := range list {
		if !slices.Contains(entityTypes, n.kind) {
			return nil, errors.New("Invalid entity type " + n.kind + ", the entity type must be one of " + strings.Join(entityTypes, ", ") + " with a --bootstrap-server or --bootstrap-controller argument")
		}
		for _, m := range list[:i] {
			if m.kind == n.kind {
				return nil, errors.New("Duplicate entity type(s) specified: " + n.kind)
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil, errors.New("At least one entity type must be specified")
	case len(list) > 1 && !(len(list) == 2 && list[0].kind != list[1].kind && isQuota(list[0].kind) && isQuota(list[1].kind)):
		return nil, errors.New("Only 'users' and 'clients' entity types may be specified together")
	case !v.HasAny("bootstrap-server", "bootstrap-controller"):
		return nil, errors.New("One of the required --bootstrap-server or --bootstrap-controller arguments must be specified")
	}
	n := list[0]
	if n.named && n.name != "" && (n.kind == "brokers" || n.kind == "broker-loggers") {
		if _, err := strconv.ParseInt(n.name, 10, 32); err != nil {
			return nil, errors.New("The entity name for " + n.kind + " must be a valid integer broker id, but it is: " + n.name)
		}
	}
	return list, checkConfigAction(v, n)
}

func isQuota(kind string) bool { return kind == "users" || kind == "clients" }

func checkConfigAction(v *jopt.Values, n entity) error {
	hasDefault := isQuota(n.kind) || n.kind == "brokers" || n.kind == "ips"
	if v.Has("describe") {
		switch {
		case v.Has("entity-default") && !hasDefault:
			return errors.New("--entity-default must not be specified with --describe of " + n.kind)
		case n.kind == "broker-loggers" && !n.named:
			return errors.New("An entity name must be specified with --describe of broker-loggers")
		}
		return nil
	}
	switch {
	case hasDefault && !n.named:
		return errors.New("An entity-name or default entity must be specified with --alter of users, clients, brokers or ips")
	case !hasDefault && (!n.named || n.name == ""):
		return errors.New("An entity name must be specified with --alter of " + n.kind)
	case v.Has("add-config") && v.Has("add-config-file"):
		return errors.New("Only one of --add-config or --add-config-file must be specified")
	case !v.HasAny("add-config", "add-config-file", "delete-config"):
		return errors.New("At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter")
	}
	return nil
}

func runConfigs(e *Env, v *jopt.Values) error {
	list, err := checkConfigs(v)
	if err != nil {
		return err
	}
	var sets []config.Property
	if sets, err = configsToAdd(v); err != nil {
		return err
	}
	p := conn.Properties{}
	if err := p.LoadFile(v.Str("command-config")); err != nil {
		return err
	}
	bootstrap := v.Str("bootstrap-server")
	if bootstrap == "" {
		bootstrap = v.Str("bootstrap-controller")
	}
	cl, err := conn.Open(e.Ctx, bootstrap, p)
	if err != nil {
		return err
	}
	defer cl.Close()
	c := &configCommand{e: e, cl: cl, all: v.Has("all")}
	quota := isQuota(list[0].kind) || list[0].kind == "ips"
	switch {
	case v.Has("describe") && quota:
		return c.describeQuotas(list)
	case v.Has("describe"):
		return c.describe(list[0])
	case quota:
		return c.alterQuotas(list, sets, splitNames(v.All("delete-config")))
	}
	return c.alter(list[0], sets, splitNames(v.All("delete-config")))
}

// configCommand is one call of the tool. Owned by runConfigs.
type configCommand struct {
	e   *Env
	cl  *kgo.Client
	all bool
}

func splitNames(args []string) []string {
	var out []string
	for _, a := range args {
		for _, n := range strings.Split(a, ",") {
			if n = strings.TrimSpace(n); n != "" {
				out = append(out, n)
			}
		}
	}
	return out
}

// configsToAdd reads --add-config and --add-config-file.
func configsToAdd(v *jopt.Values) ([]config.Property, error) {
	if v.Has("add-config-file") {
		p := conn.Properties{}
		if err := p.LoadFile(v.Str("add-config-file")); err != nil {
			return nil, err
		}
		var out []config.Property
		for k, val := range p {
			out = append(out, config.Property{Key: k, Value: val})
		}
		slices.SortFunc(out, func(a, b config.Property) int { return strings.Compare(a.Key, b.Key) })
		return out, nil
	}
	var out []config.Property
	for _, arg := range v.All("add-config") {
		for _, pair := range splitPairs(arg) {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, errors.New("Invalid entity config: all configs to be added must be in the format \"key=val\" or  \"key=[val1,val2]\" to group values which contain commas.")
			}
			value = strings.TrimSpace(value)
			if strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]") {
				value = value[1 : len(value)-1]
			}
			out = append(out, config.Property{Key: strings.TrimSpace(key), Value: value})
		}
	}
	return out, nil
}

// splitPairs cuts at commas outside brackets.
func splitPairs(text string) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth <= 0 {
				out = append(out, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

var resourceTypes = map[string]kmsg.ConfigResourceType{"topics": kmsg.ConfigResourceTypeTopic, "brokers": kmsg.ConfigResourceTypeBroker,
	"broker-loggers": kmsg.ConfigResourceTypeBrokerLogger, "client-metrics": 16, "groups": 32}

func (c *configCommand) alter(n entity, sets []config.Property, deletes []string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = resourceTypes[n.kind], n.name
	for _, s := range sets {
		op := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		op.Name, op.Op, op.Value = s.Key, kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(s.Value)
		r.Configs = append(r.Configs, op)
	}
	for _, d := range deletes {
		op := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		op.Name, op.Op = d, kmsg.IncrementalAlterConfigOpDelete
		r.Configs = append(r.Configs, op)
	}
	req.Resources = append(req.Resources, r)
	resp, err := ask[*kmsg.IncrementalAlterConfigsResponse](c.e, c.cl, req)
	if err != nil {
		return err
	}
	for i := range resp.Resources {
		if err := conn.Code(resp.Resources[i].ErrorCode, resp.Resources[i].ErrorMessage); err != nil {
			return err
		}
	}
	c.done(n)
	return nil
}

func (c *configCommand) done(n entity) {
	if n.isDefault() {
		c.e.println("Completed updating default config for %s in the cluster.", n.kind)
		return
	}
	c.e.println("Completed updating config for %s %s.", strings.TrimSuffix(n.kind, "s"), n.name)
}
