package hostile

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestForeignProtocolsAreClosed: what is no Kafka frame ends the connection at once and disturbs nobody (PA1, PA2, report B77).
func TestForeignProtocolsAreClosed(t *testing.T) {
	cases := []struct {
		name string
		data []byte
	}{
		{"http", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
		{"http2", []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")},
		{"tls", append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, make([]byte, 506)...)},
		{"ssh", []byte("SSH-2.0-OpenSSH_9.2\r\n")},
		{"amqp", []byte("AMQP\x00\x00\x09\x01")},
		{"length -1", []byte{0xff, 0xff, 0xff, 0xff}},
		{"length -2^31", []byte{0x80, 0, 0, 0}},
		{"length 2^31-1", []byte{0x7f, 0xff, 0xff, 0xff}},
		{"length above socket.request.max.bytes", binary.BigEndian.AppendUint32(nil, 104857601)},
		{"header cut", []byte{0, 0, 0, 5, 0, 18, 0, 0, 1}},
		{"unknown key", []byte{0, 0, 0, 10, 0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff}},
		{"negative key", []byte{0, 0, 0, 10, 0xff, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff}},
		{"unknown version of Metadata", []byte{0, 0, 0, 14, 0, 3, 0x7f, 0, 0, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0}},
		{"negative version of Produce", []byte{0, 0, 0, 14, 0, 0, 0xff, 0xff, 0, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0}},
		{"client id longer than the frame", []byte{0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0x7f, 0xff}},
		{"tag count 2^31-1 in the header", append([]byte{0, 0, 0, 16, 0, 3, 0, 9, 0, 0, 0, 1, 0xff, 0xff}, 0xff, 0xff, 0xff, 0xff, 0x07, 0)},
	}
	w, canary := startWatch(t), harness.StartCanary(t, target.Addr)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t)
			if err := conn.SendRaw(c.data); err != nil {
				return // closed while we were still writing
			}
			if err := conn.Closed(5 * time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	canary.Healthy(t, quiet)
	w.flat()
}

// TestZeroLengthFrame: a frame of length 0 has no header; the broker closes or waits for a good one, but does not fall.
func TestZeroLengthFrame(t *testing.T) {
	conn := dial(t)
	if err := conn.SendRaw([]byte{0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Closed(3 * time.Second); err != nil {
		t.Errorf("after a frame of length 0: %v", err)
	}
}

// TestHalfRequestThenEnd: a request announced in full, cut by the end of the connection, for each advertised API.
func TestHalfRequestThenEnd(t *testing.T) {
	w := startWatch(t)
	for _, r := range advertised(t) {
		conn := dial(t)
		frame, _ := conn.Encode(populated(r.key, r.max))
		if err := conn.SendRaw(frame[:len(frame)/2]); err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	w.flat()
}

// TestHalfClosedClientGetsItsAnswer: a client that shuts its writing side down after a request is answered all the same.
func TestHalfClosedClientGetsItsAnswer(t *testing.T) {
	conn := dial(t)
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 9
	id, err := conn.Send(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Receive(req, id); err != nil {
		t.Errorf("no answer after the half close: %v", err)
	}
}
