// Package conn opens a client to a broker as the tools do: from a bootstrap list and client properties in Kafka's names, and it words errors as
// Kafka's clients word them.
//
// It parses no command line and prints nothing. The client it returns belongs to the caller, who closes it.
//
// Files: properties.go client properties; client.go opening; errors.go Kafka's names and words for error codes.
package conn
