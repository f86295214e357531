package netpoll

import (
	"errors"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	epoll := DriverFactory{Name: "epoll", Probe: func() error { return nil }}
	good := DriverFactory{Name: "uring", Probe: func() error { return nil }}
	bad := DriverFactory{Name: "uring", Probe: func() error { return errors.New("not permitted here") }}
	for _, c := range []struct {
		engine     string
		drivers    []DriverFactory
		want, says string
	}{
		{"auto", []DriverFactory{epoll, good}, "uring", "the kernel allows it"},
		{"", []DriverFactory{good, epoll}, "uring", "the kernel allows it"},
		{"auto", []DriverFactory{epoll, bad}, "epoll", "not permitted here"},
		{"auto", []DriverFactory{epoll}, "epoll", "make build"},
		{"epoll", []DriverFactory{epoll, good}, "epoll", "asked for"},
		{"uring", []DriverFactory{epoll, good}, "uring", "asked for"},
		{"uring", []DriverFactory{epoll, bad}, "", "io.engine=auto"},
		{"uring", []DriverFactory{epoll}, "", "make build"},
		{"kqueue", []DriverFactory{epoll, good}, "", "allowed here: auto, epoll, uring"},
	} {
		f, reason, err := Choose(c.engine, c.drivers)
		if err != nil {
			reason = err.Error()
			f.Name = ""
		}
		if f.Name != c.want || !strings.Contains(reason, c.says) {
			t.Errorf("%q of %d: %q, %q", c.engine, len(c.drivers), f.Name, reason)
		}
	}
}
