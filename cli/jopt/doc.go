// Package jopt reads command lines as the option parser of Apache Kafka's tools reads them, and prints usage in its layout.
//
// `--name value`, `--name=value` and `-name value` are the same; an option may be repeated; an optional argument is taken from the next word
// unless that word is an option; abbreviations are refused, as in Kafka. A Set knows nothing about what options mean and prints nothing unless asked.
//
// State: a Set is immutable once its tool has declared it; Values belong to the call that parsed them.
//
// Files: option.go declarations; parse.go; values.go typed access; usage.go the two-column table.
package jopt
