package run

import (
	"bufio"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNATSStart: against a server of a few lines; what it asks for, in which order, and what it takes for an acknowledgement.
func TestNATSStart(t *testing.T) {
	for _, c := range []struct{ stream, message, bad string }{
		{`{"type":"io.nats.jetstream.api.v1.stream_create_response","created":"2026-01-01T00:00:00Z"}`, `{"stream":"first","seq":1}`, ""},
		{`{"error":{"code":503,"description":"JetStream not enabled"}}`, "", "a stream"},
		{`{"created":"now"}`, `{"error":{"code":500}}`, "a first message"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		got := make(chan string, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			say := func(s string) { _, _ = conn.Write([]byte(s)) }
			var lines []string
			say("INFO {}\r\n")
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					got <- strings.Join(lines, "|")
					return
				}
				lines = append(lines, strings.TrimSpace(line))
				switch {
				case strings.HasPrefix(line, `{"name"`):
					say("PING\r\nMSG answer 1 " + strconv.Itoa(len(c.stream)) + "\r\n" + c.stream + "\r\n")
				case strings.HasPrefix(line, "xxx"):
					say("MSG answer 1 " + strconv.Itoa(len(c.message)) + "\r\n" + c.message + "\r\n")
				}
			}
		}()
		var s Start
		err = natsStart(l.Addr().String(), time.Now(), &s)
		switch {
		case c.bad != "":
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q: %v", c.bad, err)
			}
		case err != nil || s.ListenMs <= 0 || s.FirstAckMs < s.ReadyMs:
			t.Errorf("%+v, %v", s, err)
		}
		lines := <-got
		if !strings.HasPrefix(lines, `CONNECT {"verbose":false}|SUB answer 1|PUB $JS.API.STREAM.CREATE.first answer 54|`) || c.bad == "" && !strings.Contains(lines, "|PONG|PUB first answer 100|xxx") {
			t.Errorf("it said %s", lines)
		}
	}
}
