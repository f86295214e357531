package sink

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"millrace/bench/wire"
)

// TestFilesHoldWhatWasSent: many connections, several batches per turn, frames small and large, one loop and two: every batch
// is in its file once, whole, with the offset that was answered.
func TestFilesHoldWhatWasSent(t *testing.T) {
	for _, loops := range []int{1, 2} {
		for _, size := range []int{200, 3000, 70000} {
			dir := t.TempDir()
			s, err := Serve(Options{Mode: "write", Addr: "127.0.0.1:0", Dir: dir, Sync: SyncBackground, Loops: loops, Partitions: 2})
			if err != nil {
				t.Fatal(err)
			}
			const conns, sends = 4, 12
			done := make(chan map[int64]byte, conns)
			for i := range conns {
				go func() { done <- sendSome(t, s.Addr(), byte(i), size, sends) }()
			}
			answered := map[int64]byte{}
			for range conns {
				for base, who := range <-done {
					if _, twice := answered[base]; twice {
						t.Errorf("offset %d was given twice", base)
					}
					answered[base] = who
				}
			}
			s.Close()
			if len(answered) != conns*sends {
				t.Errorf("loops %d size %d: %d offsets of %d", loops, size, len(answered), conns*sends)
			}
			for p := range 2 {
				checkFile(t, filepath.Join(dir, "t-"+string(rune('0'+p)), "00000000000000000000.log"), answered)
			}
		}
	}
}

// sendSome pipelines requests with one batch for each of two partitions and returns who got which offset of partition 0.
func sendSome(t *testing.T, addr string, who byte, size, sends int) map[int64]byte {
	out := map[int64]byte{}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return out
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	shape := &wire.ProduceShape{Version: 9, Topic: "t", Acks: 1, Parts: 2, Bodies: wire.NewBodies(1, size, 1, uint64(who))}
	slot := shape.NewSlot()
	var all []byte
	for i := range sends {
		slot.SetCorrelation(int32(i))
		for p := range 2 {
			shape.Bodies.Stamp(slot.SetPart(p, int32(p), 0), 0, int64(who))
		}
		all = append(all, bytes.Join(slot.Segments(), nil)...)
	}
	go func() { _, _ = conn.Write(all) }()
	for i := range sends {
		var head [4]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			t.Error(err)
			return out
		}
		frame := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(conn, frame); err != nil {
			t.Error(err)
			return out
		}
		corr, parts, err := wire.ParseProduceResponse(frame, 9, nil)
		if err != nil || corr != int32(i) || len(parts) != 2 || parts[0].Code != 0 {
			t.Errorf("answer %d: %d %+v %v", i, corr, parts, err)
			return out
		}
		out[parts[0].BaseOffset] = who
	}
	return out
}

func checkFile(t *testing.T, name string, answered map[int64]byte) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	next := int64(0)
	for len(data) > 0 {
		n := wire.TotalLen(data)
		if n > len(data) || !wire.ValidCRC(data[:n]) {
			t.Fatalf("%s: a broken batch after %d", name, next)
		}
		base := wire.BaseOffset(data)
		if base != next {
			t.Fatalf("%s: offset %d where %d was due", name, base, next)
		}
		if seen[base] {
			t.Fatalf("%s: offset %d twice", name, base)
		}
		seen[base] = true
		next = base + 1
		data = data[n:]
	}
	if len(seen) != len(answered) {
		t.Errorf("%s holds %d batches of %d", name, len(seen), len(answered))
	}
}

func TestForeignBytesCloseTheConnection(t *testing.T) {
	for _, mode := range []string{"null", "echo"} {
		s, err := Serve(Options{Mode: mode, Addr: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x01abcdefgh", "\x00\x00\x00\x08\x00\x63\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x0c\x00\x00\x00\x09\x00\x00\x00\x00\xff\xff\xff\xff"} {
			conn, err := net.Dial("tcp", s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
			_, _ = conn.Write([]byte(text))
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s answers %q", mode, text)
			} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Errorf("%s keeps the connection after %q", mode, text)
			}
			conn.Close()
		}
		s.Close()
	}
	for _, bad := range []Options{{Mode: "x"}, {Mode: "write"}, {Mode: "null", Sync: "sometimes"}, {Mode: "null", Addr: "127.0.0.1:99999"}} {
		if _, err := Serve(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
