package groups

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestManyGroups lets all members of many groups join at once: every group must be whole and stable soon, heartbeats must be
// cheap, and when the members vanish without a word, every group must be empty after the session timeout.
// MILLRACE_GROUPS=1000 MILLRACE_SECONDS=20 is the full size; it opens ten connections for each group.
func TestManyGroups(t *testing.T) {
	const size = 10
	groups := number("MILLRACE_GROUPS", 100)
	b, err := harness.Start(harness.Options{Dir: filepath.Join(t.TempDir(), "data"), Overrides: []string{"max.connections.per.ip=20000"}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Kill()
	harness.CreateTopic(t, b.Addr, "storm", 1)
	coordinator(t, b.Addr, "any", "storm", 1).Close()
	var members []*stormMember
	for i := range groups * size {
		conn, err := harness.Dial(b.Addr)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, &stormMember{conn: conn, group: fmt.Sprintf("storm-%d", i/size)})
	}
	var stable atomic.Int64
	stop := make(chan struct{})
	var wait sync.WaitGroup
	began := time.Now()
	for _, m := range members {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := m.run(size, &stable, stop); err != nil {
				t.Error(err)
			}
		}()
	}
	limit := began.Add(60 * time.Second)
	for stable.Load() < int64(len(members)) && time.Now().Before(limit) && !t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
	settled := time.Since(began)
	t.Logf("%d groups of %d: settled in %v", groups, size, settled.Round(time.Millisecond))
	if settled > 10*time.Second {
		t.Errorf("the join storm took %v, want 10 s at most", settled)
	}
	before, _ := harness.CPUTicks(b.PID())
	seconds := number("MILLRACE_SECONDS", 6)
	time.Sleep(time.Duration(seconds) * time.Second)
	after, _ := harness.CPUTicks(b.PID())
	cpu := float64(after-before) / float64(seconds)
	t.Logf("heartbeats of %d members, one in 3 s each, over %d s: %.1f %% of a core", len(members), seconds, cpu)
	if cpu > 10 {
		t.Errorf("heartbeats cost %.1f %% of a core, want 10 at most", cpu)
	}
	close(stop)
	wait.Wait()
	for _, m := range members {
		m.conn.Close()
	}
	allEmpty(t, b.Addr, groups)
}

// allEmpty waits until the session timeout has emptied every group.
func allEmpty(t *testing.T, addr string, groups int) {
	conn, err := harness.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	deadline := time.Now().Add(20 * time.Second)
	for {
		list := kmsg.NewPtrListGroupsRequest()
		list.Version, list.StatesFilter = 4, []string{"Empty"}
		resp, err := conn.Do(list)
		if err != nil {
			t.Fatal(err)
		}
		empty := len(resp.(*kmsg.ListGroupsResponse).Groups)
		if empty == groups {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d groups are empty after their members died", empty, groups)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// stormMember is one member in raw protocol. Owned by its goroutine.
type stormMember struct {
	conn      *harness.Conn
	group, id string
}

// run joins until the group has size members, then sends a heartbeat every 3 s.
func (m *stormMember) run(size int, stable *atomic.Int64, stop chan struct{}) error {
	for {
		gen, whole, err := m.join(size)
		if err != nil {
			return err
		}
		if whole {
			stable.Add(1)
		}
		for again := false; !again; {
			select {
			case <-stop:
				return nil
			case <-time.After(3 * time.Second):
			}
			hb := kmsg.NewPtrHeartbeatRequest()
			hb.Version, hb.Group, hb.MemberID, hb.Generation = 3, m.group, m.id, gen
			resp, err := m.conn.Do(hb)
			if err != nil {
				return fmt.Errorf("heartbeat: %w", err)
			}
			switch code := resp.(*kmsg.HeartbeatResponse).ErrorCode; code {
			case 0:
			case 27:
				if again = true; whole {
					stable.Add(-1)
				}
			default:
				return fmt.Errorf("%s: heartbeat: error %d", m.id, code)
			}
		}
	}
}

func (m *stormMember) join(size int) (gen int32, whole bool, err error) {
	for {
		j := kmsg.NewPtrJoinGroupRequest()
		j.Version, j.Group, j.MemberID, j.SessionTimeoutMillis, j.RebalanceTimeoutMillis, j.ProtocolType = 5, m.group, m.id, 9000, 30000, "consumer"
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = "range", []byte{0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}
		j.Protocols = append(j.Protocols, p)
		resp, err := m.conn.Do(j)
		if err != nil {
			return 0, false, fmt.Errorf("join: %w", err)
		}
		r := resp.(*kmsg.JoinGroupResponse)
		m.id = r.MemberID
		switch r.ErrorCode {
		case 79:
			continue
		case 0:
		default:
			return 0, false, fmt.Errorf("join: error %d", r.ErrorCode)
		}
		s := kmsg.NewPtrSyncGroupRequest()
		s.Version, s.Group, s.MemberID, s.Generation = 3, m.group, m.id, r.Generation
		for i := range r.Members {
			a := kmsg.NewSyncGroupRequestGroupAssignment()
			a.MemberID, a.MemberAssignment = r.Members[i].MemberID, []byte{byte(len(r.Members))}
			s.GroupAssignment = append(s.GroupAssignment, a)
		}
		if resp, err = m.conn.Do(s); err != nil {
			return 0, false, fmt.Errorf("sync: %w", err)
		}
		switch sr := resp.(*kmsg.SyncGroupResponse); sr.ErrorCode {
		case 0:
			return r.Generation, len(sr.MemberAssignment) == 1 && int(sr.MemberAssignment[0]) == size, nil
		case 27:
		default:
			return 0, false, fmt.Errorf("sync: error %d", sr.ErrorCode)
		}
	}
}
