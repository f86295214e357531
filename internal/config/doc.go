// Package config is the one table of configuration keys. Property files,
// DescribeConfigs, AlterConfigs, CreateTopics and docs/configuration.md all
// read it, so that a key means the same everywhere.
//
// The facts (names, types, defaults, what is accepted, what is described) are
// those of Apache Kafka 4.4.0; testdata/accepts_*.txt restates which values a
// running Kafka accepted, and the tests hold the table against that.
//
// What it never does: read a clock, open a socket, start a goroutine, keep
// state. It opens the one property file it is told to load. It does not know
// requests or topics; the frontend turns an AlterError into an answer.
//
// State: the tables are built once at init and never change. A Set is a plain
// map that nobody writes once it was handed to a Layers; Layers, TopicConfig,
// GroupConfig and BrokerConfig are immutable once published.
//
// Invariants:
//   - every key has a text and an effect, and its default passes its own check;
//   - a value that an Alter function accepted parses ever after; one that does
//     not (an older or newer version wrote it) counts as not set;
//   - values of password keys and of keys that are not in the table never
//     leave the package through an Entry.
//
// Files:
//
//	key.go          Key, Scope, Type, Source, Lookup, Keys
//	effect.go       whether a key is used, accepted without effect, refused
//	value.go        values as Kafka parses and prints them
//	check.go        which values a key takes
//	table_*.go      the keys
//	                (table_hidden.go: those that Kafka does not list)
//	foreign.go      keys of older versions, clients and plugins
//	layers.go       Layers: where a broker key's value comes from
//	topic.go        TopicConfig and how topic keys follow broker keys
//	broker.go       BrokerConfig, the typed view of the broker keys
//	group.go        GroupConfig
//	describe.go     Entry: what DescribeConfigs shows
//	alter.go        operations, AlterError, what all kinds of resource share
//	alter_topic.go, alter_broker.go, alter_others.go   and what is their own
//	rules.go        rules between broker keys
//	listener.go     listeners and advertised listeners
//	properties.go   Java property files
//	load.go         a file and overrides become Loaded, with a verdict per key
//	markdown.go     docs/configuration.md
package config
