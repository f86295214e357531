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
		var kind map[string]json.RawMessage
		if err := json.Unmarshal(b, &kind); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		switch {
		case has(kind, "cells"):
			r := &model.Report{}
			if err := json.Unmarshal(b, r); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			in.Sweeps = append(in.Sweeps, r)
		case has(kind, "loads") || has(kind, "runs"): // null where it had procedures only
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

func has(m map[string]json.RawMessage, key string) bool {
	_, ok := m[key]
	return ok
}
