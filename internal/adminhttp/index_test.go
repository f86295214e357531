package adminhttp

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestIndex: / names every page, each of them answers, and another path is still not there.
func TestIndex(t *testing.T) {
	s, err := Start(Options{Addr: "127.0.0.1:0", Version: "v<1>", Health: func() any { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	get := func(path string) (int, string) {
		t.Helper()
		resp, err := http.Get("http://" + s.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	code, body := get("/")
	if code != http.StatusOK || !strings.Contains(body, "Millrace v&lt;1&gt;") {
		t.Errorf("/: %d %s", code, body)
	}
	for _, p := range pages {
		if !strings.Contains(body, `<a href="`+p.Path+`">`) {
			t.Errorf("/ does not name %s", p.Path)
		}
		if code, text := get(p.Path); code != http.StatusOK {
			t.Errorf("%s: %d %s", p.Path, code, text)
		}
	}
	if code, _ := get("/nosuch"); code != http.StatusNotFound {
		t.Errorf("/nosuch: %d", code)
	}
}
