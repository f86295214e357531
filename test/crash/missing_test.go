package crash

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// storageError is Kafka's code for a log directory that is not to be had.
const storageError = 56

// TestMissingPartitionIsOffline (TF8): a partition whose directory is gone is not made anew and empty. It is offline and said so, others are
// served, and with its directory back it has all its records.
func TestMissingPartitionIsOffline(t *testing.T) {
	for name, earlier := range map[string]bool{"after a clean stop": false, "after a kill": true} {
		t.Run(name, func(t *testing.T) {
			b := start(t, filepath.Join(t.TempDir(), "data"))
			harness.CreateTopic(t, b.Addr, "gone", 2)
			produceTo(t, b.Addr, "gone", 0)
			produceTo(t, b.Addr, "gone", 1)
			if earlier { // it was here at a start, nothing says how the last run ended
				b.Kill()
				relaunch(t, b)
				b.Kill()
			} else if err := b.Stop(10 * time.Second); err != nil {
				t.Fatal(err)
			}
			dir, away := filepath.Join(b.Dir, "gone-0"), filepath.Join(t.TempDir(), "gone-0")
			if err := os.Rename(dir, away); err != nil {
				t.Fatal(err)
			}
			for range 2 { // nothing is forgotten by starting again
				relaunch(t, b)
				c, err := harness.Dial(b.Addr)
				if err != nil {
					t.Fatal(err)
				}
				if p, err := harness.ProduceOne(c, "gone", 0, oneRecord()); err != nil || p.ErrorCode != storageError {
					t.Errorf("produce to a partition without directory: error %d, %v", p.ErrorCode, err)
				}
				if _, code, err := harness.EndOffset(b.Addr, "gone", 0, -1); err != nil || code != storageError {
					t.Errorf("end of a partition without directory: error %d, %v", code, err)
				}
				produceTo(t, b.Addr, "gone", 1)
				c.Close()
				if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the directory was made anew: %v", err)
				}
				if logs := b.Logs(); !strings.Contains(logs, "lost its records") || !strings.Contains(logs, "gone-0") {
					t.Errorf("the log does not tell:\n%s", logs)
				}
				b.Kill()
			}
			if err := os.Rename(away, dir); err != nil {
				t.Fatal(err)
			}
			relaunch(t, b)
			if end, code, err := harness.EndOffset(b.Addr, "gone", 0, -1); err != nil || code != 0 || end != 1 {
				t.Errorf("with its directory back the partition ends at %d (error %d, %v), want 1", end, code, err)
			}
			produceTo(t, b.Addr, "gone", 0)
			// A topic that lost a partition can be deleted, and its name used again.
			b.Kill()
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			relaunch(t, b)
			harness.DeleteTopic(t, b.Addr, "gone")
			harness.CreateTopic(t, b.Addr, "gone", 2)
			produceTo(t, b.Addr, "gone", 0)
			b.Kill()
			relaunch(t, b)
			produceTo(t, b.Addr, "gone", 0)
		})
	}
}

// TestMissingMetadataIsRefused: partitions without the metadata that describes them are not taken for a new cluster.
func TestMissingMetadataIsRefused(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	harness.CreateTopic(t, b.Addr, "kept", 1)
	produceTo(t, b.Addr, "kept", 0)
	b.Kill()
	dir, away := filepath.Join(b.Dir, "__millrace_metadata-0"), filepath.Join(t.TempDir(), "metadata")
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	before := b.Logs()
	if err := b.Launch(); err == nil {
		t.Fatal("the broker started without its metadata")
	}
	if said := strings.TrimPrefix(b.Logs(), before); !strings.Contains(said, "__millrace_metadata-0") {
		t.Errorf("the log does not name what is missing:\n%s", said)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("new metadata was made: %v", err)
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	relaunch(t, b)
	if end, code, err := harness.EndOffset(b.Addr, "kept", 0, -1); err != nil || code != 0 || end != 1 {
		t.Errorf("with its metadata back the topic ends at %d (error %d, %v), want 1", end, code, err)
	}
}

func relaunch(t *testing.T, b *harness.Broker) {
	t.Helper()
	if err := b.Launch(); err != nil {
		t.Fatal(err)
	}
}

func oneRecord() []byte {
	return harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli(), Value: []byte("value")}).Bytes()
}

// produceTo writes one record with acks=all.
func produceTo(t *testing.T, addr, topic string, partition int32) {
	t.Helper()
	resp, err := harness.Once(addr, harness.Produce(topic, partition, -1, oneRecord()))
	if err != nil {
		t.Fatal(err)
	}
	if code := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("produce to %s-%d: error %d", topic, partition, code)
	}
}
