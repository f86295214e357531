package sink

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"millrace/bench/wire"
)

// listenEcho serves every connection by a goroutine of its own over net.Conn: what a plain Go server costs per round trip.
func (s *Server) listenEcho() error {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic") })
	}}
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(context.Background(), "tcp4", s.opts.Addr)
	if err != nil {
		return err
	}
	s.echo = l
	s.done.Go(func() {
		var mu sync.Mutex
		open := map[net.Conn]bool{}
		for {
			conn, err := l.Accept()
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				for c := range open {
					c.Close()
				}
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			s.done.Go(func() {
				s.echoConn(conn)
				conn.Close()
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
			})
		}
	})
	return nil
}

func (s *Server) echoConn(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 64<<10)
	frame, out := make([]byte, 0, 4096), make([]byte, 0, 4096)
	var view wire.ProduceView
	var base []int64
	for {
		head, err := in.Peek(4)
		if err != nil {
			return
		}
		n := int(binary.BigEndian.Uint32(head))
		if n < 8 || n > maxFrame {
			return
		}
		_, _ = in.Discard(4)
		if cap(frame) < n {
			frame = make([]byte, n)
		}
		frame = frame[:n]
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		h, _ := wire.ParseHead(frame)
		if h.Key == wire.KeyProduce {
			if !view.Parse(frame) {
				return
			}
			t, err := s.topic(view.Topic, s.opts.Partitions)
			if err != nil {
				return
			}
			base = base[:0]
			for _, p := range view.Parts {
				if p.Partition < 0 || int(p.Partition) >= len(t.parts) {
					return
				}
				b, _, err := t.parts[p.Partition].place(p.Records)
				if err != nil {
					return
				}
				base = append(base, b)
			}
			out = view.AppendResponse(out[:0], base)
			if view.Acks == 0 {
				out = out[:0]
			}
		} else if out = s.admin(frame, h); out == nil {
			return
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

func (s *Server) hostPort() (string, int32) {
	host, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		return "127.0.0.1", 0
	}
	n, _ := strconv.Atoi(port)
	return host, int32(n)
}
