package rawgen

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/bench/wire"
)

// Call sends one request over a connection of its own and reads the answer into resp, whose version is set from req.
func Call(addr string, req kmsg.Request, resp kmsg.Response, patience time.Duration) error {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("rawgen"))
	if _, err := conn.Write(f.AppendRequest(nil, req, 1)); err != nil {
		return err
	}
	frame, err := ReadFrame(conn)
	if err != nil {
		return fmt.Errorf("%s: %w", kmsg.NameForKey(req.Key()), err)
	}
	resp.SetVersion(req.GetVersion())
	c := wire.Cursor{B: frame}
	c.Int32()
	c.Tags(resp.IsFlexible() && req.Key() != 18)
	if c.Bad {
		return wire.ErrMalformed
	}
	return resp.ReadFrom(frame[c.Off:])
}

// ReadFrame reads one answer, without its length.
func ReadFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 4 || n > 256<<20 {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(r, frame)
	return frame, err
}

// InitProducer asks for the identity of an idempotent producer.
func InitProducer(addr string) (int64, int16, error) {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version = 3
	req.ProducerID, req.ProducerEpoch = -1, -1
	resp := kmsg.NewPtrInitProducerIDResponse()
	for range 50 {
		resp.SetVersion(3)
		if err := Call(addr, req, resp, 10*time.Second); err != nil {
			return 0, 0, err
		}
		if resp.ErrorCode == 0 {
			return resp.ProducerID, resp.ProducerEpoch, nil
		}
		time.Sleep(100 * time.Millisecond) // Kafka's coordinator may still be loading
	}
	return 0, 0, fmt.Errorf("InitProducerId: error code %d", resp.ErrorCode)
}

// Offsets asks for one special offset (-1 end, -2 start) of partitions 0 to n-1.
func Offsets(addr, topic string, n int, which int64) ([]int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = 5, -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	for p := range n {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = int32(p), which
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	resp := kmsg.NewPtrListOffsetsResponse()
	resp.SetVersion(5)
	if err := Call(addr, req, resp, 30*time.Second); err != nil {
		return nil, err
	}
	out := make([]int64, n)
	got := 0
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return nil, fmt.Errorf("ListOffsets %s-%d: error code %d", topic, p.Partition, p.ErrorCode)
			}
			if p.Partition >= 0 && int(p.Partition) < n {
				out[p.Partition] = p.Offset
				got++
			}
		}
	}
	if got != n {
		return nil, fmt.Errorf("ListOffsets %s: %d partitions answered of %d", topic, got, n)
	}
	return out, nil
}
