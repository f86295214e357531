package config

import (
	"slices"
	"strings"
)

// Scope says what kind of resource a key belongs to. The numbers are those of
// the resource types in the protocol.
type Scope int8

// The scopes with keys of their own.
const (
	Topic         Scope = 2
	Broker        Scope = 4
	BrokerLogger  Scope = 8
	ClientMetrics Scope = 16
	Group         Scope = 32
)

// Type is the type of a value. The numbers are those of DescribeConfigs v3.
type Type int8

// The types. Unknown is shown for keys that are not in the table.
const (
	Unknown  Type = 0
	Boolean  Type = 1
	String   Type = 2
	Int      Type = 3
	Short    Type = 4
	Long     Type = 5
	Double   Type = 6
	List     Type = 7
	Class    Type = 8
	Password Type = 9
)

var typeNames = [...]string{"unknown", "boolean", "string", "int", "short", "long", "double", "list", "class", "password"}

func (t Type) String() string { return typeNames[t] }

// Source says where a value comes from. The numbers are those of
// DescribeConfigs.
type Source int8

// The sources, from KIP-226, KIP-412, KIP-714 and KIP-848.
const (
	FromTopic         Source = 1
	FromBroker        Source = 2
	FromAllBrokers    Source = 3
	FromStatic        Source = 4
	FromDefault       Source = 5
	FromBrokerLogger  Source = 6
	FromClientMetrics Source = 7
	FromGroup         Source = 8
)

// UpdateMode says how a broker key can change while the broker runs.
type UpdateMode int8

const (
	// ReadOnly keys come from the property file alone.
	ReadOnly UpdateMode = iota
	// PerBroker keys can change for one broker, not for all at once.
	PerBroker
	// ClusterWide keys can change for one broker and for all.
	ClusterWide
	// Unlisted keys change like ClusterWide ones and are described only where
	// they are set.
	Unlisted
)

var updateModeNames = [...]string{"read-only", "per-broker", "cluster-wide", "cluster-wide"}

func (m UpdateMode) String() string { return updateModeNames[m] }

// Key is one configuration key. Immutable once published.
type Key struct {
	Name  string
	Scope Scope
	Type  Type
	// Default is what counts when nothing is set, as Kafka prints it.
	Default string
	// NoDefault marks keys whose default is null.
	NoDefault bool
	// Follows names the broker key that gives a topic or group key its default.
	Follows string
	// Mode is how a broker key can change.
	Mode UpdateMode
	// Effect is what the key does here.
	Effect Effect
	// Own marks Millrace's own keys, which are described only where they are
	// set or asked for by name.
	Own bool
	// Hidden marks Kafka's internal keys, which are described only where they
	// are set.
	Hidden bool
	// Doc is the text that DescribeConfigs and the docs show.
	Doc string

	check *Check
	// parsed is the default as a value.
	parsed Value
}

// Sensitive tells whether the value must not be shown.
func (k *Key) Sensitive() bool { return k.Type == Password }

// Allowed says in words which values the key takes.
func (k *Key) Allowed() string {
	if k.check != nil && k.check.allowed != "" {
		return k.check.allowed
	}
	return k.Type.allowed()
}

// null stands in a table for a default that is null.
const null = "\x00"

// row is a broker key in a table.
type row struct {
	name     string
	typ      Type
	fallback string
	check    *Check
	mode     UpdateMode
	effect   Effect
	doc      string
}

// item is a topic, group or client metrics key in a table; follows is the
// broker key its default comes from.
type item struct {
	name     string
	typ      Type
	fallback string
	check    *Check
	follows  string
	effect   Effect
	doc      string
}

// registry holds the keys of one scope. Immutable once published.
type registry struct {
	byName map[string]*Key
	sorted []*Key
}

var registries = map[Scope]*registry{
	Topic:         newRegistry(fromItems(Topic, false, topicKeys), fromItems(Topic, true, ownTopicKeys)),
	Broker:        newRegistry(brokerTable(), fromRows(true, ownBrokerKeys)),
	Group:         newRegistry(fromItems(Group, false, groupConfigKeys)),
	ClientMetrics: newRegistry(fromItems(ClientMetrics, false, clientMetricsKeys)),
}

func brokerTable() []*Key {
	return slices.Concat(fromRows(false, networkKeys), fromRows(false, logKeys), fromRows(false, replicationKeys), fromRows(false, controllerKeys),
		fromRows(false, groupsKeys), fromRows(false, shareKeys), fromRows(false, transactionsKeys), fromRows(false, quotaKeys),
		fromRows(false, remoteKeys), fromRows(false, securityKeys), hide(fromRows(false, hiddenBrokerKeys)))
}

func fromRows(own bool, rows []row) []*Key {
	keys := make([]*Key, 0, len(rows))
	for _, r := range rows {
		k := &Key{Name: r.name, Scope: Broker, Type: r.typ, Default: r.fallback, Mode: r.mode, Effect: r.effect, Own: own, Doc: r.doc, check: r.check}
		k.settleDefault()
		keys = append(keys, k)
	}
	return keys
}

func fromItems(scope Scope, own bool, items []item) []*Key {
	keys := make([]*Key, 0, len(items))
	for _, i := range items {
		k := &Key{Name: i.name, Scope: scope, Type: i.typ, Default: i.fallback, Follows: i.follows, Mode: ClusterWide, Effect: i.effect, Own: own, Doc: i.doc, check: i.check}
		k.settleDefault()
		keys = append(keys, k)
	}
	return keys
}

func (k *Key) settleDefault() {
	if k.Default == null {
		k.Default, k.NoDefault = "", true
		k.parsed = Value{Type: k.Type, Null: true}
		return
	}
	var err error
	if k.parsed, err = parse(k.Type, k.Default); err != nil {
		panic("config: default of " + k.Name + ": " + err.Error())
	}
}

func newRegistry(tables ...[]*Key) *registry {
	r := &registry{byName: map[string]*Key{}}
	for _, table := range tables {
		for _, k := range table {
			r.byName[k.Name] = k
			r.sorted = append(r.sorted, k)
		}
	}
	slices.SortFunc(r.sorted, func(a, b *Key) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// Lookup finds a key by its exact name.
func Lookup(scope Scope, name string) (*Key, bool) {
	r := registries[scope]
	if r == nil {
		return nil, false
	}
	k, ok := r.byName[name]
	return k, ok
}

// Keys are all keys of a scope in the order of their names. The slice is
// shared: callers must not change it.
func Keys(scope Scope) []*Key {
	r := registries[scope]
	if r == nil {
		return nil
	}
	return r.sorted
}
