package hostile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// spared lists APIs that are not sent with changed fields, since a request that still decodes could take the broker itself away:
// UpdateFeatures, UnregisterBroker, AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter, AlterClientQuotas.
var spared = map[int16]bool{49: true, 57: true, 64: true, 80: true, 81: true, 82: true}

// patient lists APIs whose answer may rightly take as long as a field of the request says.
var patient = map[int16]bool{0: true, 1: true, 11: true, 14: true, 19: true, 20: true, 21: true, 37: true, 43: true, 45: true, 68: true, 76: true, 78: true, 79: true, 88: true}

// mute lists APIs that Apache Kafka leaves without an answer for some of these frames (AlterConfigs, DescribeShareGroupOffsets).
var mute = map[int16]bool{33: true, 90: true}

// mayWait reports whether no answer is an answer.
func mayWait(a attempt) bool {
	return a.kind != "cut" && (patient[a.key] || target.Broker == nil && mute[a.key])
}

// TestEveryRequestCutAtEachByte: every API and version, with default and with populated fields, cut after each byte of header and body, the
// length prefix telling the truth. The broker answers or closes; it does not hang, fall or grow (PA5, PA6).
func TestEveryRequestCutAtEachByte(t *testing.T) {
	abuse(t, func(emit func(attempt)) {
		eachRequest(t, func(a api, version int16, frame []byte) {
			for cut := 4; cut < len(frame); cut++ {
				f := append([]byte{}, frame[:cut]...)
				binary.BigEndian.PutUint32(f, uint32(cut-4))
				emit(attempt{a.key, version, "cut", cut, f})
			}
		})
	})
}

// TestEveryCountInflated: every API and version with 2^31-1 written over each place of the body, as a fixed and as a variable-length
// number, so that every array, string and tag count is met (PA3, PA4). Nothing may be allocated for what is not there.
func TestEveryCountInflated(t *testing.T) {
	abuse(t, func(emit func(attempt)) {
		eachRequest(t, func(a api, version int16, frame []byte) {
			if spared[a.key] {
				return
			}
			for at := 14; at < len(frame); at++ {
				if at+4 <= len(frame) {
					f := append([]byte{}, frame...)
					binary.BigEndian.PutUint32(f[at:], 1<<31-1)
					emit(attempt{a.key, version, "int32", at, f})
				}
				f := append([]byte{}, frame[:at]...)
				f = append(f, 0xff, 0xff, 0xff, 0xff, 0x07)
				f = append(f, frame[at+1:]...)
				binary.BigEndian.PutUint32(f, uint32(len(f)-4))
				emit(attempt{a.key, version, "uvarint", at, f})
			}
		})
	})
}

// attempt is one malformed frame.
type attempt struct {
	key, version int16
	kind         string
	at           int
	frame        []byte
}

// eachRequest makes the frames of all advertised APIs and versions, with default fields and populated.
func eachRequest(t testing.TB, f func(a api, version int16, frame []byte)) {
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID("x"))
	for _, a := range advertised(t) {
		for v := a.min; v <= a.max; v++ {
			plain := kmsg.RequestForKey(a.key)
			plain.SetVersion(v)
			f(a, v, format.AppendRequest(nil, plain, 77))
			f(a, v, format.AppendRequest(nil, populated(a.key, v), 77))
		}
	}
}

// abuse sends all attempts over a few connections beside a canary.
func abuse(t *testing.T, generate func(emit func(attempt))) {
	w, canary := startWatch(t), harness.StartCanary(t, target.Addr)
	work := make(chan attempt, 64)
	var wg sync.WaitGroup
	var sent, answered, failed atomic.Int64
	for range 8 {
		wg.Go(func() {
			var conn *harness.Conn
			for a := range work {
				ok, err := try(&conn, a)
				sent.Add(1)
				if ok {
					answered.Add(1)
				}
				if err != nil && failed.Add(1) <= 20 {
					t.Errorf("key %d v%d, %s at %d: %v", a.key, a.version, a.kind, a.at, err)
				}
			}
			if conn != nil {
				conn.Close()
			}
		})
	}
	begin := time.Now()
	generate(func(a attempt) { work <- a })
	close(work)
	wg.Wait()
	t.Logf("%d frames in %v: %d answered, the rest closed", sent.Load(), time.Since(begin).Round(time.Millisecond), answered.Load())
	if sent.Load() < 1000 {
		t.Errorf("only %d frames were made", sent.Load())
	}
	canary.Healthy(t, quiet)
	w.flat()
}

// try sends one frame and waits for an answer or a close. The connection is kept as long as the broker keeps it.
func try(conn **harness.Conn, a attempt) (answered bool, err error) {
	if *conn == nil {
		if *conn, err = harness.Dial(target.Addr); err != nil {
			return false, fmt.Errorf("the broker takes no connection: %w", err)
		}
		(*conn).Timeout = 10 * time.Second
		if mayWait(a) {
			(*conn).Timeout = 250 * time.Millisecond
		}
	}
	drop := func() {
		(*conn).Close()
		*conn = nil
	}
	if (*conn).SendRaw(a.frame) != nil {
		drop()
		return false, nil
	}
	frame, err := (*conn).ReadFrame()
	var ne net.Error
	switch {
	case errors.As(err, &ne) && ne.Timeout():
		drop()
		if mayWait(a) {
			return false, nil
		}
		return false, errors.New("neither an answer nor a close within 10 s")
	case err != nil:
		drop()
		return false, nil
	case len(frame) < 4:
		drop()
		return false, fmt.Errorf("answer of %d bytes", len(frame))
	}
	if mayWait(a) {
		drop() // the time limit belongs to the key
	}
	return true, nil
}
