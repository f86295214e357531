package prof

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Take asks a broker's admin port for a CPU profile of so many seconds and attributes it. The raw profile is returned too.
func Take(ctx context.Context, admin string, seconds int) ([]Share, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, seconds), nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("profile: %s", resp.Status)
	}
	shares, err := Read(bytes.NewReader(raw))
	return shares, raw, err
}
