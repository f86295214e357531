// Package broker is the node: it owns the loops, the engine and the controller client, and keeps what the engine
// has equal to what the controller's image says.
//
// The image is what is wanted, the engine is what is there; reconcile moves the second towards the first, one
// partition at a time, and publishes a Topic handle when a partition's leader epoch stands, so that metadata never
// names a leader that cannot take writes yet.
//
// A Node knows no wire format. The Kafka frontend and the tools are its callers.
//
// Files: node.go (life cycle), topics.go (handles), reconcile.go (image to engine), admin.go (changes that wait
// until they have effect), configs.go (layers of configuration), producerids.go (blocks of producer ids).
package broker
