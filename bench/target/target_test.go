package target

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/bench/sink"
)

// TestMain lets the test binary play a broker: it is started with Millrace's arguments and serves as a checking sink.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		playBroker(os.Args[2:])
	}
	os.Exit(m.Run())
}

func playBroker(args []string) {
	o := sink.Options{Mode: "null", Check: true}
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "listeners=PLAINTEXT://"); ok {
			o.Addr = v
		}
		if strings.HasPrefix(a, "test.fail=") {
			fmt.Println("it does not want to")
			os.Exit(3)
		}
	}
	if _, err := sink.Serve(o); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {}
}

func TestStartStopRestartKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Parse("millrace-epoll", Sources{Millrace: self, Loops: 2, Overrides: []string{"a=b"}})
	if err != nil {
		t.Fatal(err)
	}
	place := Place{Dir: filepath.Join(t.TempDir(), "m"), Port: 19650, AdminPort: 19651, CPUs: "0"}
	i, times, err := Start(tg, place)
	if err != nil {
		t.Fatal(err)
	}
	if times.Listen <= 0 || times.Ready < times.Listen || i.PID <= 0 || i.Admin != "127.0.0.1:19651" {
		t.Errorf("%+v %+v", times, i)
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", i.PID))
	if err != nil || !strings.Contains(string(cmdline), "io.engine=epoll") || !strings.Contains(string(cmdline), "num.loops=2") || !strings.Contains(string(cmdline), "a=b") {
		t.Errorf("%q %v", cmdline, err)
	}
	if err := CreateTopic(i.Addr, "t", 3, nil); err != nil {
		t.Error(err)
	}
	if err := DeleteTopic(i.Addr, "t"); err != nil {
		t.Error(err)
	}
	if err := DeleteTopic(i.Addr, "t"); err == nil {
		t.Error("a topic was dropped twice")
	}
	if took, err := i.StopTimed(); err != nil || took <= 0 {
		t.Error(took, err)
	}
	if _, err := Ready(i.Addr, 20*time.Millisecond); err == nil {
		t.Error("it answers after it was stopped")
	}
	if _, err := i.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := i.Kill(); err != nil {
		t.Error(err)
	}
}

func TestAStartThatFailsSaysWhy(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tg, _ := Parse("millrace-uring", Sources{Millrace: self, Overrides: []string{"test.fail=1"}})
	_, _, err = Start(tg, Place{Dir: t.TempDir(), Port: 19652, AdminPort: 19653})
	if err == nil || !strings.Contains(err.Error(), "it does not want to") {
		t.Errorf("%v", err)
	}
}

func TestKafkaByCommand(t *testing.T) {
	s, err := sink.Serve(sink.Options{Mode: "null", Addr: "127.0.0.1:19654"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	tg, err := Parse("kafka", Sources{KafkaStart: "echo {port} {cpus} > {dir}/started", KafkaStop: "touch {dir}/stopped"})
	if err != nil {
		t.Fatal(err)
	}
	i, _, err := Start(tg, Place{Dir: dir, Port: 19654, CPUs: "0"})
	if err != nil || i.PID != os.Getpid() {
		t.Fatalf("%v %+v", err, i)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "started")); string(b) != "19654 0\n" {
		t.Errorf("%q", b)
	}
	if err := i.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "stopped")); err != nil {
		t.Error(err)
	}
	tg.StartCommand = "echo no Java here; exit 7"
	if _, _, err := Start(tg, Place{Dir: dir, Port: 19655}); err == nil {
		t.Error("a start command that fails is taken for a start")
	}
}

func TestParse(t *testing.T) {
	for _, name := range append(FloorNames(), "x=h:1") {
		if tg, err := Parse(name, Sources{}); err != nil || tg.ChecksRecords() != (tg.Kind != Floor) {
			t.Errorf("%s: %+v %v", name, tg, err)
		}
	}
	for _, name := range []string{"", "kafka", "millrace-uring", "floor-x"} {
		if _, err := Parse(name, Sources{}); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}
