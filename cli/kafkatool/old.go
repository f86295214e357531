package kafkatool

import "strings"

// DefaultBootstrap is where the tools of introductions without --bootstrap-server find the broker.
const DefaultBootstrap = "localhost:9092"

// modernize rewrites flags that introductions to Kafka 1.x use and today's tools no longer know, and says so in one line each.
func modernize(e *Env, t *tool, args []string) []string {
	set := t.options()
	knows := func(name string) bool { return set.Has(name) }
	hasBootstrap := false
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if strings.HasPrefix(a, "-") && (name == "bootstrap-server" || name == "broker-list" && t == producerTool) {
			hasBootstrap = true
		}
	}
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, inline := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || knows(name) {
			out = append(out, a)
			continue
		}
		argument := func() string {
			if !inline && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
				i++
				return args[i]
			}
			return value
		}
		switch {
		case name == "zookeeper" && knows("bootstrap-server"):
			argument()
			if !hasBootstrap {
				b := e.Getenv("MILLRACE_BOOTSTRAP")
				if b == "" {
					b = DefaultBootstrap
				}
				out = append(out, "--bootstrap-server", b)
				hasBootstrap = true
				e.complain("%s: --zookeeper: there is no ZooKeeper any more, asking the broker at %s; today one writes --bootstrap-server HOST:PORT (MILLRACE_BOOTSTRAP names another)", t.name, b)
			} else {
				e.complain("%s: --zookeeper is ignored, --bootstrap-server is enough", t.name)
			}
		case name == "broker-list" && knows("bootstrap-server"):
			out = append(out, "--bootstrap-server", argument())
			e.complain("%s: --broker-list is called --bootstrap-server today", t.name)
		case name == "new-consumer" || name == "old-consumer":
			e.complain("%s: --%s is ignored, there is only one consumer today", t.name, name)
		case (name == "new-producer" || name == "old-producer") && t == producerTool:
			e.complain("%s: --%s is ignored, there is only one producer today", t.name, name)
		case name == "delete-consumer-offsets" && t == consumerTool:
			e.complain("%s: --%s is ignored: offsets are no longer in ZooKeeper; kafka-consumer-groups --delete-offsets deletes them", t.name, name)
		case name == "force" && (t == topicsTool || t == configsTool):
			e.complain("%s: --force is ignored, nothing is asked today", t.name)
		case name == "blacklist" && t == consumerTool:
			argument()
			e.complain("%s: --blacklist is ignored, there is only --include today: a regular expression of the topics to read", t.name)
		case (name == "threads" || name == "num-fetch-threads") && t == consumerPerfTool:
			argument()
			e.complain("%s: --%s is ignored, one consumer reads in one thread today", t.name, name)
		case name == "whitelist" && knows("include"):
			out = append(out, "--include", argument())
			e.complain("%s: --whitelist is called --include today", t.name)
		default:
			out = append(out, a)
		}
	}
	return out
}
