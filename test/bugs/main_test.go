package bugs

import (
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

var target harness.Target

// Producer ids expire quickly here, so that the test of idle producers can wait for it; Kafka takes the same settings.
func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, &target, "log.retention.check.interval.ms=500", "log.initial.task.delay.ms=500",
		"producer.id.expiration.ms=5000", "producer.id.expiration.check.interval.ms=1000", "transactional.id.expiration.ms=2000"))
}

func dial(t testing.TB) *harness.Conn {
	t.Helper()
	c, err := harness.Dial(target.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// topic creates a topic and deletes it after the test.
func topic(t testing.TB, prefix string, partitions int, config ...string) string {
	t.Helper()
	name := harness.Name(prefix)
	harness.CreateTopic(t, target.Addr, name, partitions, config...)
	t.Cleanup(func() { harness.DeleteTopic(t, target.Addr, name) })
	return name
}

// one is a batch of one record.
func one(timestamp int64, value string) []byte {
	return harness.NewBatch(harness.Record{Timestamp: timestamp, Value: []byte(value)}).Bytes()
}

func now() int64 { return time.Now().UnixMilli() }

// do sends a request or ends the test.
func do[R kmsg.Response](t testing.TB, c *harness.Conn, req kmsg.Request) R {
	t.Helper()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatalf("key %d v%d: %v", req.Key(), req.GetVersion(), err)
	}
	return resp.(R)
}
