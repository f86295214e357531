package hostile

import (
	"encoding/binary"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"millrace/test/harness"
)

// heldConnections is how many connections the tests hold at once.
func heldConnections(t testing.TB) int {
	n := 5000
	if s := os.Getenv("MILLRACE_CONNS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("MILLRACE_CONNS=%q: want a number", s)
		}
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if room := int(limit.Cur) - 500; room < n {
		t.Logf("limit of open files is %d: %d connections instead of %d", limit.Cur, room, n)
		n = room
	}
	return n
}

// TestThousandsOfIdleAndTricklingConnections: a third silent, a third sending a header byte by byte, a third with 100 MB announced and a
// trickle of it. Others are served as before, new ones too, and all memory and descriptors come back (RE1, RE2, report B77).
func TestThousandsOfIdleAndTricklingConnections(t *testing.T) {
	n := heldConnections(t)
	base := harness.StartCanary(t, target.Addr)
	time.Sleep(500 * time.Millisecond)
	_, usual, _, err := base.Stop()
	if err != nil {
		t.Fatalf("canary before the test: %v", err)
	}
	w := startWatch(t)
	conns := make([]*harness.Conn, 0, n)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for i := range n {
		c, err := harness.Dial(target.Addr)
		if err != nil {
			t.Fatalf("connection %d of %d: %v", i, n, err)
		}
		conns = append(conns, c)
	}
	canary := harness.StartCanary(t, target.Addr)
	announced := uint32(100 << 20)
	if target.Broker == nil {
		announced = 100 << 10 // Apache Kafka allocates what is announced and is out of memory after a few
	}
	big := append(binary.BigEndian.AppendUint32(nil, announced), 0, 0, 0, 9, 0, 0, 0, 1, 0xff, 0xff, 0)
	trickle := []byte{0, 0, 0, 60, 0, 3, 0, 9, 0, 0, 0, 1, 0, 20}
	for step := range 10 {
		for i, c := range conns {
			switch {
			case i%3 == 1:
				_ = c.SendRaw(trickle[step : step+1])
			case i%3 == 2 && step == 0:
				_ = c.SendRaw(big)
			case i%3 == 2:
				_ = c.SendRaw([]byte{1})
			}
		}
		if err := harness.Answers(target.Addr, 3*time.Second); err != nil {
			t.Errorf("a new client beside %d others: %v", n, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	canary.Healthy(t, max(3*usual, 150*time.Millisecond))
	for _, c := range conns {
		c.Close()
	}
	w.flat()
}

// TestConnectAndLeave: a port scan, thousands of connections that say nothing and go, some of them by reset (RE4, report B77).
func TestConnectAndLeave(t *testing.T) {
	w, canary := startWatch(t), harness.StartCanary(t, target.Addr)
	for i := range 10000 {
		c, err := harness.Dial(target.Addr)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		switch i % 3 {
		case 1:
			_ = c.SendRaw([]byte{0})
		case 2:
			_ = c.Conn.(interface{ SetLinger(int) error }).SetLinger(0)
		}
		c.Close()
	}
	canary.Healthy(t, quiet)
	w.flat()
}
