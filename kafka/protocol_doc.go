package kafka

import (
	"fmt"
	"io"

	"millrace/kafka/wire"
)

// served lists the keys that fillTable gives a handler, without a frontend.
func served() map[int16]bool {
	keys := map[int16]bool{wire.KeyProduce: true, wire.KeyFetch: true, wire.KeyApiVersions: true}
	for key := range coldHandlers() {
		keys[key] = true
	}
	return keys
}

// WriteProtocol writes docs/protocol.md: which APIs are served at which versions.
func WriteProtocol(w io.Writer) error {
	keys := served()
	_, err := fmt.Fprintf(w, `# Protocol

Made from the code (`+"`go test ./kafka -run Docs -update`"+`). Versions are those of Apache Kafka 4.4.0. An API is listed to clients (ApiVersions) exactly
when it is served; a request for another one ends the connection, as in Kafka ([why](adr/0004-what-is-advertised.md)).

| key | API | versions | flexible from | served |
| --- | --- | --- | --- | --- |
`)
	if err != nil {
		return err
	}
	for _, a := range wire.Versions() {
		flexible := "never"
		if a.Flexible <= a.Max {
			flexible = fmt.Sprint(a.Flexible)
		}
		versions, yes := fmt.Sprintf("%d-%d", a.Min, a.Max), "yes"
		if a.Lowest != a.Min {
			versions += fmt.Sprintf(" (accepted from %d)", a.Lowest)
		}
		if !keys[a.Key] {
			yes = "not yet"
		}
		if _, err := fmt.Fprintf(w, "| %d | %s | %s | %s | %s |\n", a.Key, a.Name, versions, flexible, yes); err != nil {
			return err
		}
	}
	return nil
}
