package kafkatool

import (
	"errors"
	"net"
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

var entityDefaultFlags = []struct{ flag, kind string }{
	{"client-defaults", "clients"}, {"user-defaults", "users"}, {"broker-defaults", "brokers"}, {"ip-defaults", "ips"},
}

// entitiesOf reads what the call is about, and counts the names that were given.
func entitiesOf(v *jopt.Values) (list []entity, names int) {
	// --entity-name and --entity-default belong to types in the order they stand.
	var places []entity
	next := v.All("entity-name")
	for _, o := range v.Names() {
		switch {
		case o == "entity-name" && len(next) > 0:
			places = append(places, entity{name: next[0], named: true})
			next = next[1:]
		case o == "entity-default":
			places = append(places, entity{named: true})
		}
	}
	for i, t := range v.All("entity-type") {
		n := entity{kind: t}
		if i < len(places) {
			n.name, n.named = places[i].name, true
		}
		list = append(list, n)
	}
	names = len(places)
	for _, f := range entityFlags {
		for _, name := range v.All(f.flag) {
			list, names = append(list, entity{f.kind, name, true}), names+1
		}
	}
	for _, f := range entityDefaultFlags {
		if v.Has(f.flag) {
			list, names = append(list, entity{f.kind, "", true}), names+1
		}
	}
	return list, names
}

// shortFlags says whether one of the flags is given that name type and entity at once.
func shortFlags(v *jopt.Values) bool {
	for _, flags := range [][]struct{ flag, kind string }{entityFlags, entityDefaultFlags} {
		for _, f := range flags {
			if v.Has(f.flag) {
				return true
			}
		}
	}
	return false
}

// checkConfigs refuses what Kafka's tool refuses before it connects, in its order.
func checkConfigs(e *Env, v *jopt.Values) ([]entity, error) {
	if v.Has("alter") == v.Has("describe") {
		return nil, usagef("Command must include exactly one action: --describe, --alter")
	}
	if err := exclude(v, "describe", "add-config", "delete-config"); err != nil {
		return nil, err
	}
	list, names := entitiesOf(v)
	if err := checkEntityTypes(v, list); err != nil {
		return nil, err
	}
	switch {
	case shortFlags(v) && v.HasAny("entity-name", "entity-type", "entity-default"):
		return nil, errors.New("--entity-{type,name,default} should not be used in conjunction with specific entity flags")
	case v.Has("bootstrap-server") && v.Has("bootstrap-controller"):
		return nil, errors.New("Only one of --bootstrap-server or --bootstrap-controller can be specified")
	}
	if err := checkEntityName(e, list[0]); err != nil {
		return nil, err
	}
	if err := checkConfigAction(v, list); err != nil {
		return nil, err
	}
	switch {
	case v.Has("alter") && names != len(list):
		return nil, errors.New("An entity name must be specified for every entity type")
	case names > len(list) && (isQuota(list[0].kind) || list[0].kind == "ips"):
		return nil, errors.New("More entity names specified than entity types")
	}
	return list, nil
}

func checkEntityTypes(v *jopt.Values, list []entity) error {
	var types, twice []string
	for _, n := range list {
		if slices.Contains(types, n.kind) && !slices.Contains(twice, n.kind) {
			twice = append(twice, n.kind)
		}
		types = append(types, n.kind)
	}
	switch {
	case len(twice) > 0:
		return errors.New("Duplicate entity type(s) specified: " + strings.Join(twice, ","))
	case !v.HasAny("bootstrap-server", "bootstrap-controller"):
		return errors.New("Either --bootstrap-server or --bootstrap-controller must be specified.")
	}
	for _, t := range types {
		if !slices.Contains(entityTypes, t) {
			return errors.New("Invalid entity type " + t + ", the entity type must be one of " + strings.Join(entityTypes, ", ") + " with a --bootstrap-server or --bootstrap-controller argument")
		}
	}
	switch {
	case len(list) == 0:
		return errors.New("At least one entity type must be specified")
	case len(list) > 1 && !(len(list) == 2 && isQuota(types[0]) && isQuota(types[1])):
		return errors.New("Only 'users' and 'clients' entity types may be specified together")
	}
	return nil
}

func checkEntityName(e *Env, n entity) error {
	if n.name == "" {
		return nil
	}
	switch n.kind {
	case "brokers", "broker-loggers":
		if _, err := strconv.ParseInt(n.name, 10, 32); err != nil {
			return errors.New("The entity name for " + n.kind + " must be a valid integer broker id, but it is: " + n.name)
		}
	case "ips":
		if net.ParseIP(n.name) != nil {
			return nil
		}
		if _, err := net.DefaultResolver.LookupHost(e.Ctx, n.name); err != nil {
			return errors.New("The entity name for ips must be a valid IP or resolvable host, but it is: " + n.name)
		}
	}
	return nil
}

func isQuota(kind string) bool { return kind == "users" || kind == "clients" }

func checkConfigAction(v *jopt.Values, list []entity) error {
	kind := list[0].kind
	hasDefault := isQuota(kind) || kind == "brokers" || kind == "ips"
	named := slices.ContainsFunc(list, func(n entity) bool { return n.named && (hasDefault || n.name != "") })
	if v.Has("describe") {
		switch {
		case v.Has("entity-default") && !hasDefault:
			return errors.New("--entity-default must not be specified with --describe of " + kind)
		case kind == "broker-loggers" && !named:
			return errors.New("An entity name must be specified with --describe of broker-loggers")
		}
		return nil
	}
	switch {
	case hasDefault && !named:
		return errors.New("An entity-name or default entity must be specified with --alter of users, clients, brokers or ips")
	case !named:
		return errors.New("An entity name must be specified with --alter of " + kind)
	case v.Has("add-config") && v.Has("add-config-file"):
		return errors.New("Only one of --add-config or --add-config-file must be specified")
	case !v.HasAny("add-config", "add-config-file", "delete-config"):
		return errors.New("At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter")
	}
	return nil
}

func runConfigs(e *Env, v *jopt.Values) error {
	list, err := checkConfigs(e, v)
	if err != nil {
		return err
	}
	var sets []config.Property
	if sets, err = configsToAdd(v); err != nil {
		return err
	}
	for _, s := range sets {
		if strings.IndexFunc(s.Key, func(r rune) bool { return !strings.ContainsRune("$._-", r) && !isAlphanumeric(r) }) >= 0 {
			return errors.New("Invalid character found for config key: " + s.Key)
		}
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

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
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
