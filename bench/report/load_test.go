package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/bench/run"
)

// A campaign of workloads without loads of their own, W10 and STOCK say, has null where others have a list.
func TestCampaignWithoutLoads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "W10.json")
	r := &run.Report{Meta: run.Meta{Started: time.Unix(1, 0), Passes: []run.Pass{{Name: "pinned", Workloads: []string{"W10", "NATS"}}}}}
	r.Extras = []run.Extra{
		{Workload: "W10", Target: "millrace-uring", Pass: "pinned", Round: 1, Values: map[string]float64{"drain MB/s": 1000, "p99 us during": 34_000}},
		{Workload: "NATS", Target: natsPage, Pass: "pinned", Round: 1, Values: map[string]float64{"W1 like, async 1 KiB: MB/s": 123}}}
	if err := r.Save(file); err != nil {
		t.Fatal(err)
	}
	in, err := Load([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := WriteOverview(&b, in); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| load | millrace-uring | NATS JetStream | floor |", "meanwhile, ms | 34.0 ± 0 % | – | – |", "MB/s | – | 123 ± 0 % | – |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"a": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load([]string{other}); err == nil {
		t.Error("any JSON is a report")
	}
}
