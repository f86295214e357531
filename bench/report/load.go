package report

import (
	"encoding/json"
	"fmt"
	"os"

	"millrace/bench/model"
	"millrace/bench/run"
)

// Input is what a report is made of.
type Input struct {
	Campaign *run.Report // merged; nil: none
	Sweeps   []*model.Report
}

// Load reads files, each of a campaign, of a part of one, or of a sweep.
func Load(files []string) (*Input, error) {
	in := &Input{}
	var parts []*run.Report
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var kind struct {
			Loads *json.RawMessage `json:"loads"`
			Cells *json.RawMessage `json:"cells"`
			Runs  *json.RawMessage `json:"runs"`
		}
		if err := json.Unmarshal(b, &kind); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		switch {
		case kind.Cells != nil:
			r := &model.Report{}
			if err := json.Unmarshal(b, r); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			in.Sweeps = append(in.Sweeps, r)
		case kind.Loads != nil || kind.Runs != nil:
			r := &run.Report{}
			if err := json.Unmarshal(b, r); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			parts = append(parts, r)
		default:
			return nil, fmt.Errorf("%s is neither a campaign nor a sweep", f)
		}
	}
	if len(parts) > 0 {
		in.Campaign = run.Merge(parts)
	}
	return in, nil
}
