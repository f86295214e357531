package kafka

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"millrace/kafka/wire"
)

var update = flag.Bool("update", false, "write the generated page")

const protocolPage = "../docs/protocol.md"

func TestDocsProtocolPageIsGenerated(t *testing.T) {
	var want bytes.Buffer
	if err := WriteProtocol(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(protocolPage, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Fatal("docs/protocol.md is older than the table: go test ./kafka -run Docs -update")
	}
}

// The page and the listing must tell the same: both come from what is served.
func TestServedIsWhatTheTableHolds(t *testing.T) {
	f := &Frontend{}
	f.fillTable()
	keys := served()
	for key := range f.table {
		if f.table[key].served() != keys[int16(key)] {
			t.Errorf("%s: the table says %t, the page %t", wire.Lookup(int16(key)).Name, f.table[key].served(), keys[int16(key)])
		}
	}
}
