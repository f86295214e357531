package harness

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Conn is a raw connection to a broker: requests are kmsg values at exactly the version they carry. Owned by one goroutine.
type Conn struct {
	net.Conn
	Timeout time.Duration // per call of Do, Send and Receive; default 15 s
	corr    int32
	format  *kmsg.RequestFormatter
}

// Dial connects to a broker.
func Dial(addr string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c, Timeout: 15 * time.Second, format: kmsg.NewRequestFormatter(kmsg.FormatterClientID("millrace-test"))}, nil
}

// Encode returns the frame of a request, length prefix included, and the correlation id that it carries.
func (c *Conn) Encode(req kmsg.Request) ([]byte, int32) {
	c.corr++
	return c.format.AppendRequest(nil, req, c.corr), c.corr
}

// Send writes one request and returns its correlation id.
func (c *Conn) Send(req kmsg.Request) (int32, error) {
	frame, id := c.Encode(req)
	return id, c.SendRaw(frame)
}

// SendRaw writes bytes as they are.
func (c *Conn) SendRaw(b []byte) error {
	_ = c.SetWriteDeadline(time.Now().Add(c.Timeout))
	_, err := c.Write(b)
	return err
}

// ReadFrame reads one length-prefixed answer, without its prefix. Answers above 512 MiB are an error.
func (c *Conn) ReadFrame() ([]byte, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.Timeout))
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	n := int32(binary.BigEndian.Uint32(head[:]))
	if n < 4 || n > 512<<20 {
		return nil, fmt.Errorf("answer announces %d bytes", n)
	}
	body := make([]byte, n)
	_, err := io.ReadFull(c, body)
	return body, err
}

// Receive reads the answer of req, which was sent with correlation id want.
func (c *Conn) Receive(req kmsg.Request, want int32) (kmsg.Response, error) {
	frame, err := c.ReadFrame()
	if err != nil {
		return nil, err
	}
	if got := int32(binary.BigEndian.Uint32(frame)); got != want {
		return nil, fmt.Errorf("answer carries correlation id %d, want %d", got, want)
	}
	return ParseResponse(req, frame)
}

// ParseResponse decodes an answer frame (without length prefix) as the answer of req.
func ParseResponse(req kmsg.Request, frame []byte) (kmsg.Response, error) {
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	body := frame[4:]
	if resp.IsFlexible() && req.Key() != 18 {
		var err error
		if body, err = skipTags(body); err != nil {
			return nil, err
		}
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("answer to key %d v%d does not decode: %w", req.Key(), req.GetVersion(), err)
	}
	return resp, nil
}

// Do sends one request and reads its answer.
func (c *Conn) Do(req kmsg.Request) (kmsg.Response, error) {
	id, err := c.Send(req)
	if err != nil {
		return nil, err
	}
	return c.Receive(req, id)
}

// Once connects, asks one thing and leaves.
func Once(addr string, req kmsg.Request) (kmsg.Response, error) {
	c, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(req)
}

// Answers checks that a broker gives a complete ApiVersions answer.
func Answers(addr string, limit time.Duration) error {
	c, err := Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.Timeout = limit
	req := kmsg.NewPtrApiVersionsRequest()
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	if r := resp.(*kmsg.ApiVersionsResponse); r.ErrorCode != 0 || len(r.ApiKeys) == 0 {
		return fmt.Errorf("ApiVersions: error %d, %d keys", r.ErrorCode, len(r.ApiKeys))
	}
	return nil
}

// Closed waits until the broker closes the connection; bytes that come before are dropped. It is an error if that takes longer.
func (c *Conn) Closed(limit time.Duration) error {
	_ = c.SetReadDeadline(time.Now().Add(limit))
	_, err := io.Copy(io.Discard, c)
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return fmt.Errorf("connection still open after %v", limit)
	}
	return nil // end of file or reset
}

func skipTags(b []byte) ([]byte, error) {
	bad := errors.New("answer header: bad tag section")
	count, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, bad
	}
	b = b[n:]
	for range count {
		if _, n = binary.Uvarint(b); n <= 0 {
			return nil, bad
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, bad
		}
		b = b[n+int(size):]
	}
	return b, nil
}
