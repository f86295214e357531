package config

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

var allScopes = []Scope{Topic, Broker, Group, ClientMetrics}

func TestTableIsSound(t *testing.T) {
	counts := map[Scope]int{}
	for _, scope := range allScopes {
		last := ""
		for _, k := range Keys(scope) {
			if k.Name <= last {
				t.Errorf("%s: out of order or twice", k.Name)
			}
			last = k.Name
			if !k.Own && !k.Hidden {
				counts[scope]++
			}
			if k.Scope != scope {
				t.Errorf("%s: scope %d, want %d", k.Name, k.Scope, scope)
			}
			if len(k.Doc) < 10 || !strings.HasSuffix(k.Doc, ".") {
				t.Errorf("%s: the text is %q", k.Name, k.Doc)
			}
			if (k.Effect.Verdict == Used) != (k.Effect.Why == "") {
				t.Errorf("%s: %s, but the reason is %q", k.Name, k.Effect.Verdict, k.Effect.Why)
			}
			if k.Allowed() == "" {
				t.Errorf("%s: nothing is allowed", k.Name)
			}
			if got, ok := Lookup(scope, k.Name); !ok || got != k {
				t.Errorf("%s: not found", k.Name)
			}
			if k.NoDefault {
				continue
			}
			v, err := k.Parse(k.Default)
			if err != nil || v.String() != k.Default {
				t.Errorf("default of %s is %q, parsed to %q, %v", k.Name, k.Default, v, err)
			}
			if k.Follows == "" {
				continue
			}
			b, ok := Lookup(Broker, k.Follows)
			if !ok {
				t.Errorf("%s follows %s, which is not there", k.Name, k.Follows)
			} else if b.Type != k.Type && k.Name != "streams.assignor.name" {
				t.Errorf("%s is %s, %s is %s", k.Name, k.Type, b.Name, b.Type)
			}
		}
	}
	// Kafka 4.4.0 describes 37 topic, 350 broker, 21 group and 3 client metrics
	// keys; three throttle rates of brokers are described only when set.
	for scope, want := range map[Scope]int{Topic: 37, Broker: 353, Group: 21, ClientMetrics: 3} {
		if counts[scope] != want {
			t.Errorf("scope %d has %d keys, want %d", scope, counts[scope], want)
		}
	}
	for name := range foreign {
		if _, ok := Lookup(Broker, name); ok {
			t.Errorf("%s is in the table and foreign", name)
		}
	}
}

func TestTopicDefaultsFollowTheBroker(t *testing.T) {
	l := kafkaNode(t)
	for _, k := range Keys(Topic) {
		if got := l.topicValue(nil, k.Name).String(); got != k.Default {
			t.Errorf("%s is %s on a broker with its defaults, want %s", k.Name, got, k.Default)
		}
	}
	for _, k := range Keys(Group) {
		if got := l.groupValue(nil, k.Name).String(); got != k.Default {
			t.Errorf("%s is %s on a broker with its defaults, want %s", k.Name, got, k.Default)
		}
	}
}

func TestDocsAreGenerated(t *testing.T) {
	var want bytes.Buffer
	if err := WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join("..", "..", "docs", "configuration.md")
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/configuration.md is older than the table: go test ./internal/config -run Docs -update")
	}
	for _, scope := range allScopes {
		for _, k := range Keys(scope) {
			if !bytes.Contains(got, []byte("`"+k.Name+"`")) {
				t.Errorf("%s is missing", k.Name)
			}
		}
	}
}
