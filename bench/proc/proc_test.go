package proc

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestReadSeesWork(t *testing.T) {
	before, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	x := 0
	for end := time.Now().Add(60 * time.Millisecond); time.Now().Before(end); {
		x++
	}
	after, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	d := after.Since(before)
	if d.CPUSeconds <= 0 || d.CPUSeconds > 5 || d.RSSBytes < 1<<20 || d.RSSPeakBytes < d.RSSBytes/2 || d.Descriptors < 3 || d.Threads < 1 {
		t.Errorf("after %d rounds: %+v", x, d)
	}
	if _, err := Read(1 << 30); err == nil {
		t.Error("a process that does not exist was read")
	}
}

func TestParseStatCountsFromTheLastBracket(t *testing.T) {
	user, system, err := parseStat([]byte("7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 110 120 0 0"))
	if err != nil || user != 110 || system != 120 {
		t.Errorf("%d %d %v", user, system, err)
	}
	for _, bad := range []string{"", "7 (a", "7 (a) S 1 2"} {
		if _, _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestByPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := ByPort(l.Addr().String())
	if err != nil || pid != os.Getpid() {
		t.Errorf("found %d, %v", pid, err)
	}
	addr := l.Addr().String()
	l.Close()
	if _, err := ByPort(addr); err == nil {
		t.Error("found a listener that is gone")
	}
}

func TestChildIsPinnedAndEnds(t *testing.T) {
	out, err := Run("0", os.Stderr, "grep", "Cpus_allowed_list", "/proc/self/status")
	if err != nil || strings.TrimSpace(string(out)) != "Cpus_allowed_list:\t0" {
		t.Errorf("%q %v", out, err)
	}
	var text bytes.Buffer
	c, err := Start("", &text, "sleep", "100")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stop(5 * time.Second); err != nil {
		t.Error(err)
	}
	c, err = Start("0", &text, "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.01; done")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if _, err := c.Stop(50 * time.Millisecond); err == nil {
		t.Error("a process that ignores the signal ended all the same")
	}
	if _, err := Start("", &text, "no-such-program-anywhere"); err == nil {
		t.Error("started what does not exist")
	}
	if _, err := ParseCPUs("1-x"); err == nil {
		t.Error("1-x was accepted")
	}
}

func TestStolenIsTheHostsShare(t *testing.T) {
	for text, want := range map[string]CPUTime{
		"cpu  10 20 30 40 50 60 70 80 90 90\ncpu0 1 2 3 4 5 6 7 8 9 10\n": {80, 360},
		"cpu  1 2 3 4 5 6 7 0 0 0\n":                                      {0, 28},
		"cpu  1 2 3 4\n":                                                  {}, // kernels before 2.6.11
		"cpu  1 2 3 4 5 6 7 x 0 0\n":                                      {},
		"intr 1 2 3 4 5 6 7 8 9 10\n":                                     {},
		"":                                                                {},
	} {
		if got := parseCPUTime([]byte(text)); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if s := (CPUTime{30, 500}).StolenSince(CPUTime{10, 300}); s != 0.1 {
		t.Errorf("20 of 200 ticks: %v", s)
	}
	if s := (CPUTime{}).StolenSince(CPUTime{10, 300}); s != 0 {
		t.Errorf("without a second reading: %v", s)
	}
	if got := ReadCPUTime(); got.All <= 0 || got.Stolen < 0 {
		t.Errorf("%+v", got)
	}
}
