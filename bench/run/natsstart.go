package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// natsStart waits until nats-server, started at began on an empty directory, listens, answers, and has stored a first message of
// 100 B in a stream made for it. Its own tool cannot tell: a process of it takes longer to start than the server.
func natsStart(addr string, began time.Time, s *Start) error {
	var conn net.Conn
	for {
		var err error
		if conn, err = net.DialTimeout("tcp", addr, time.Second); err == nil {
			break
		}
		if time.Since(began) > 30*time.Second {
			return fmt.Errorf("nothing listens on %s after 30 s: %w", addr, err)
		}
		time.Sleep(200 * time.Microsecond)
	}
	defer conn.Close()
	s.ListenMs = ms(time.Since(began))
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	n := natsConn{Conn: conn, in: bufio.NewReader(conn)}
	line, err := n.in.ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "INFO ") {
		err = errors.New("it is no nats-server")
	}
	if err != nil {
		return fmt.Errorf("%s began with %q: %w", addr, line, err)
	}
	s.ReadyMs = ms(time.Since(began))
	if _, err := io.WriteString(conn, "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\n"); err != nil {
		return err
	}
	if err := n.request("$JS.API.STREAM.CREATE.first", `{"name":"first","subjects":["first"],"storage":"file"}`, `"created"`); err != nil {
		return fmt.Errorf("a stream: %w", err)
	}
	if err := n.request("first", strings.Repeat("x", 100), `"seq"`); err != nil {
		return fmt.Errorf("a first message: %w", err)
	}
	s.FirstAckMs = ms(time.Since(began))
	return nil
}

// natsConn speaks as much of NATS's client protocol as a request needs.
type natsConn struct {
	net.Conn
	in *bufio.Reader
}

// request publishes, and wants an answer that holds something.
func (n *natsConn) request(subject, payload, want string) error {
	if _, err := fmt.Fprintf(n, "PUB %s answer %d\r\n%s\r\n", subject, len(payload), payload); err != nil {
		return err
	}
	for {
		line, err := n.in.ReadString('\n')
		if err != nil {
			return err
		}
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "PING":
			if _, err := io.WriteString(n, "PONG\r\n"); err != nil {
				return err
			}
		case f[0] == "MSG":
			size, err := strconv.Atoi(f[len(f)-1])
			if err != nil || size < 0 || size > 1<<20 {
				return fmt.Errorf("nats-server said %q", line)
			}
			b := make([]byte, size+2) // and the end of its line
			if _, err := io.ReadFull(n.in, b); err != nil {
				return err
			}
			if !strings.Contains(string(b), want) {
				return fmt.Errorf("nats-server answered %q", b)
			}
			return nil
		case f[0] == "-ERR":
			return fmt.Errorf("nats-server said %q", line)
		}
	}
}
