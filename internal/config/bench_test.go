package config

import "testing"

// BenchmarkTopic builds the typed view of one topic, which a broker does for
// each of its topics at the start.
func BenchmarkTopic(b *testing.B) {
	loaded, err := Build("", nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	l, overrides := loaded.Layers(), Set{"retention.ms": "1000", "cleanup.policy": "compact"}
	b.ReportAllocs()
	for b.Loop() {
		l.Topic(overrides)
	}
}
