package kafka

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/broker"
	"millrace/internal/bufpool"
	"millrace/internal/config"
	"millrace/kafka/wire"
	"millrace/netpoll"
	"millrace/netpoll/epoll"
	"millrace/segment/batch"
)

// rig is a whole node in this process over a directory of its own, with clients that talk raw frames to it.
type rig struct {
	t    testing.TB
	node *broker.Node
	fe   *Frontend
	net  *netpoll.Group
	addr string
}

// newRig starts a node with one loop per address of the test.
func newRig(t testing.TB, loops int, overrides ...string) *rig {
	t.Helper()
	loaded, err := config.Build("", nil, append([]string{"node.id=1", "log.dirs=" + t.TempDir()}, overrides...))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	r := &rig{t: t}
	var ls []*netpoll.Loop
	var ran sync.WaitGroup
	for i := range loops {
		l, err := netpoll.NewLoop(netpoll.LoopOptions{Index: i, Driver: epoll.Factory(), CopyFiles: !loaded.Broker.FetchZeroCopy, Log: log, Pool: bufpool.New(256 << 20)})
		if err != nil {
			t.Fatal(err)
		}
		ls = append(ls, l)
		ran.Add(1)
		go func() {
			defer ran.Done()
			if err := l.Run(); err != nil {
				t.Error(err)
			}
		}()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r.node, err = broker.Open(ctx, broker.Options{Layers: loaded.Layers(), Loops: ls, Log: log, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	r.fe = New(Options{Node: r.node, Log: log})
	group, err := netpoll.NewGroup(netpoll.GroupOptions{Loops: ls, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	r.net = group
	addr, err := group.Listen("127.0.0.1:0", 0, r.fe)
	if err != nil {
		t.Fatal(err)
	}
	r.addr = addr.String()
	endpoint := config.Endpoint{Name: "PLAINTEXT", Host: "127.0.0.1", Port: int32(addr.(*net.TCPAddr).Port)}
	if err := r.node.Register(ctx, []config.Endpoint{endpoint}); err != nil {
		t.Fatal(err)
	}
	r.fe.Serve()
	t.Cleanup(func() {
		group.CloseListeners()
		r.fe.Drain(time.Second)
		group.CloseConns(nil, nil)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.node.Close(ctx); err != nil {
			t.Error(err)
		}
		for _, l := range ls {
			l.Stop()
		}
		ran.Wait()
	})
	return r
}

// client is one connection.
type client struct {
	t    testing.TB
	conn net.Conn
	corr int32
	buf  []byte
}

func (r *rig) dial() *client {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return &client{t: r.t, conn: c}
}

// frame encodes a request.
func (c *client) frame(req kmsg.Request, version int16) []byte {
	c.corr++
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, c.corr)
}

func (c *client) send(frame []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(frame); err != nil {
		c.t.Fatal(err)
	}
}

// read reads one answer without its size; io.EOF when the broker has closed the connection.
func (c *client) read() ([]byte, error) {
	c.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	var size [4]byte
	if _, err := io.ReadFull(c.conn, size[:]); err != nil {
		if strings.Contains(err.Error(), "reset") {
			err = io.EOF
		}
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if cap(c.buf) < n {
		c.buf = make([]byte, n)
	}
	c.buf = c.buf[:n]
	_, err := io.ReadFull(c.conn, c.buf)
	return c.buf, err
}

// decode reads the answer to req.
func (c *client) decode(req kmsg.Request, correlation int32, b []byte) kmsg.Response {
	c.t.Helper()
	if got := int32(binary.BigEndian.Uint32(b)); got != correlation {
		c.t.Fatalf("an answer to %d, not to %d", got, correlation)
	}
	b = b[4:]
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if resp.IsFlexible() && req.Key() != wire.KeyApiVersions {
		b = b[1:]
	}
	if err := resp.ReadFrom(append([]byte(nil), b...)); err != nil {
		c.t.Fatalf("the answer to %s v%d cannot be read: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	return resp
}

// ask sends a request and returns its answer.
func (c *client) ask(req kmsg.Request, version int16) kmsg.Response {
	c.t.Helper()
	c.send(c.frame(req, version))
	b, err := c.read()
	if err != nil {
		c.t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
	}
	return c.decode(req, c.corr, b)
}

// closes tells whether the broker closes the connection on these bytes, without an answer.
func (c *client) closes(frame []byte) bool {
	c.t.Helper()
	c.send(frame)
	_, err := c.read()
	return err == io.EOF
}

// topic creates a topic and returns its id.
func (c *client) topic(name string, partitions int32, configs ...string) [16]byte {
	c.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
	for i := 0; i+1 < len(configs); i += 2 {
		cfg := kmsg.NewCreateTopicsRequestTopicConfig()
		cfg.Name, cfg.Value = configs[i], &configs[i+1]
		t.Configs = append(t.Configs, cfg)
	}
	req.Topics = append(req.Topics, t)
	got := c.ask(req, 7).(*kmsg.CreateTopicsResponse).Topics[0]
	if got.ErrorCode != 0 {
		c.t.Fatalf("creating %s: %s", name, wire.ErrorCode(got.ErrorCode).Name())
	}
	return got.TopicID
}

// records is a batch of values, one ms apart from first on.
func records(first int64, values ...string) []byte {
	var b batch.Builder
	b.Reset(nil, 0, -1)
	for i, v := range values {
		b.Add(first+int64(i), []byte("k"), []byte(v))
	}
	return append([]byte(nil), b.Finish()...)
}

// produce appends a batch at acks=all and version 9.
func (c *client) produce(topic string, partition int32, recs []byte) kmsg.ProduceResponseTopicPartition {
	c.t.Helper()
	return c.ask(produceRequest(topic, partition, -1, recs), 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
}

func produceRequest(topic string, partition int32, acks int16, recs []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 5000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, recs
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func fetchRequest(topic string, partition int32, offset int64, waitMs, minBytes int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = waitMs, minBytes, 1<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch, p.LastFetchedEpoch = partition, offset, 1<<20, -1, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// pagesRequest asks for the partitions of topics, of all of them without names.
func pagesRequest(limit int32, names ...string) *kmsg.DescribeTopicPartitionsRequest {
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = limit
	for _, name := range names {
		t := kmsg.NewDescribeTopicPartitionsRequestTopic()
		t.Topic = name
		req.Topics = append(req.Topics, t)
	}
	return req
}

func expectCode(t testing.TB, what string, got int16, want wire.ErrorCode) {
	t.Helper()
	if wire.ErrorCode(got) != want {
		t.Errorf("%s: %s, want %s", what, wire.ErrorCode(got).Name(), want.Name())
	}
}
