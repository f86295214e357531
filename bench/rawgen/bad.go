package rawgen

import (
	"bytes"
	"fmt"
	"net"
	"time"

	"millrace/bench/wire"
)

// BadRefused is how a spoiled batch must be answered.
const BadRefused = "CORRUPT_MESSAGE"

const codeCorruptMessage = 2

// SendBad sends one batch with a wrong checksum on a connection of its own and says how it was answered: a broker that checks
// nothing would measure well. Of the options it uses address, topic, version and record size.
func SendBad(o ProduceOptions) string {
	o.EnsureDefaults()
	shape := &wire.ProduceShape{
		Version: o.Version, ClientID: "rawgen-bad", Topic: o.Topic, TopicID: o.TopicID, Acks: 1, TimeoutMs: o.TimeoutMs, Parts: 1,
		Bodies: wire.NewBodies(1, o.RecordSize, o.RecordSize+200, 2),
	}
	slot := shape.NewSlot()
	h := slot.SetPart(0, 0, 0)
	shape.Bodies.Stamp(h, 0, time.Now().UnixMilli())
	wire.Spoil(h)
	conn, err := net.DialTimeout("tcp", o.Addr, o.Patience)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(o.Patience))
	if _, err := conn.Write(bytes.Join(slot.Segments(), nil)); err != nil {
		return err.Error()
	}
	frame, err := ReadFrame(conn)
	if err != nil {
		return err.Error()
	}
	_, results, err := wire.ParseProduceResponse(frame, o.Version, nil)
	switch {
	case err != nil:
		return err.Error()
	case len(results) != 1:
		return fmt.Sprintf("%d partitions", len(results))
	case results[0].Code == codeCorruptMessage:
		return BadRefused
	}
	return fmt.Sprintf("error code %d, offset %d", results[0].Code, results[0].BaseOffset)
}
