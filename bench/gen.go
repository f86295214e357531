package bench

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"millrace/bench/rawgen"
)

// genCommand is the generator as a process: options as flags, one JSON result on standard output.
func genCommand() *cobra.Command {
	c := &cobra.Command{Use: "gen", Short: "The raw load generator, one load per process", Hidden: true}
	c.AddCommand(genProduce(), genFetch(), genEndToEnd(), genJob())
	return c
}

func produceFlags(f *pflag.FlagSet, o *rawgen.ProduceOptions, id *string) {
	f.StringVar(&o.Addr, "addr", "127.0.0.1:9092", "broker")
	f.StringVar(&o.Topic, "topic", "bench", "topic, which must exist")
	f.StringVar(id, "topic-id", "", "its id in hex, for versions that name topics by id")
	f.IntVar(&o.Partitions, "partitions", 1, "partitions of the topic")
	f.IntVar(&o.PerRequest, "per-request", 0, "partitions in one request (default: all)")
	f.BoolVar(&o.Rotate, "rotate", false, "go through the partitions request by request")
	f.Int16Var(&o.Version, "version", 11, "version of Produce")
	f.Int16Var(&o.Acks, "acks", 1, "0, 1 or -1")
	f.IntVar(&o.Conns, "conns", 1, "connections")
	f.IntVar(&o.Depth, "depth", 1, "requests in flight per connection")
	f.IntVar(&o.RecordSize, "record-size", 1024, "bytes of a record's value")
	f.IntVar(&o.BatchBytes, "batch-bytes", 65536, "upper bound of a batch")
	f.IntVar(&o.Bodies, "bodies", 0, "distinct batches in rotation (default: 1 MiB of them)")
	f.BoolVar(&o.Idempotent, "idempotent", false, "one producer id per connection")
	f.Int64Var(&o.Requests, "requests", 0, "stop after so many")
	f.DurationVar(&o.Duration, "duration", 0, "stop after this time")
	f.BoolVar(&o.Both, "both", false, "go on until both requests and duration are reached")
	f.Float64Var(&o.Rate, "rate", 0, "records per second (open loop); 0: as fast as answers come")
	f.BoolVar(&o.Sleep, "sleep", false, "pace the open loop by sleeping instead of spinning")
	f.BoolVar(&o.Spin, "spin", false, "never sleep")
	f.BoolVar(&o.NoBad, "no-bad", false, "send no spoiled batch (for floors, which check nothing)")
	f.IntVar(&o.WatchPID, "watch", 0, "process id of the broker, to measure what it costs")
	f.DurationVar(&o.Patience, "patience", 0, "give up after this time without an answer (default 60s)")
}

func genProduce() *cobra.Command {
	var o rawgen.ProduceOptions
	var id string
	c := &cobra.Command{Use: "produce", Short: "Produce", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if err := parseID(id, &o.TopicID); err != nil {
			return err
		}
		rawgen.Quiet()
		return emit(cmd, func() (*rawgen.Result, error) { return rawgen.Produce(o) })
	}}
	produceFlags(c.Flags(), &o, &id)
	return c
}

func fetchFlags(f *pflag.FlagSet, o *rawgen.FetchOptions) {
	f.Int16Var(&o.Version, "fetch-version", 12, "version of Fetch")
	f.Int32Var(&o.MaxBytes, "max-bytes", 0, "of an answer (default 50 MiB)")
	f.Int32Var(&o.PartitionMaxBytes, "partition-max-bytes", 0, "of one partition in an answer (default 4 MiB)")
	f.Int32Var(&o.MinBytes, "min-bytes", 0, "wait for so many (default 1)")
	f.Int32Var(&o.MaxWaitMs, "max-wait", 0, "but no longer than this, ms (default 500)")
	f.BoolVar(&o.Sessionless, "sessionless", false, "no fetch session")
	f.IntVar(&o.SampleEvery, "sample-every", 0, "walk and check one partition answer of so many (default 64)")
}

func genFetch() *cobra.Command {
	var o rawgen.FetchOptions
	var id string
	c := &cobra.Command{Use: "fetch", Short: "Consume", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if err := parseID(id, &o.TopicID); err != nil {
			return err
		}
		rawgen.Quiet()
		return emit(cmd, func() (*rawgen.Result, error) { return rawgen.Fetch(o) })
	}}
	f := c.Flags()
	fetchFlags(f, &o)
	f.StringVar(&o.Addr, "addr", "127.0.0.1:9092", "broker")
	f.StringVar(&o.Topic, "topic", "bench", "topic")
	f.StringVar(&id, "topic-id", "", "its id in hex, for versions that name topics by id")
	f.IntVar(&o.Partitions, "partitions", 1, "partitions of the topic")
	f.IntVar(&o.Consumers, "consumers", 1, "connections; each reads everything")
	f.Int64Var(&o.Bytes, "bytes", 0, "stop after so many bytes of batches")
	f.DurationVar(&o.Duration, "duration", 0, "stop after this time")
	f.BoolVar(&o.Both, "both", false, "go on until both bytes and duration are reached")
	f.IntVar(&o.BatchLen, "batch-len", 0, "size of every batch, if all are alike")
	f.IntVar(&o.BatchRecords, "batch-records", 0, "records in every batch, if all are alike")
	f.IntVar(&o.RecordSize, "record-size", 1024, "bytes of a record's value, to count the payload")
	f.IntVar(&o.WatchPID, "watch", 0, "process id of the broker, to measure what it costs")
	f.DurationVar(&o.Patience, "patience", 0, "give up after this time without an answer (default 60s)")
	return c
}

func genEndToEnd() *cobra.Command {
	var o rawgen.ProduceOptions
	var fo rawgen.FetchOptions
	var id string
	c := &cobra.Command{Use: "e2e", Short: "Produce in an open loop and consume at the end of the same partitions", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if err := parseID(id, &o.TopicID); err != nil {
			return err
		}
		rawgen.Quiet()
		return emit(cmd, func() (*rawgen.Result, error) { return rawgen.EndToEnd(o, fo) })
	}}
	produceFlags(c.Flags(), &o, &id)
	fetchFlags(c.Flags(), &fo)
	return c
}

func emit(cmd *cobra.Command, load func() (*rawgen.Result, error)) error {
	r, err := load()
	if err != nil {
		return err
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
}

func parseID(s string, id *[16]byte) error {
	if s == "" {
		return nil
	}
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return fmt.Errorf("topic id %q is not 32 hex digits", s)
	}
	copy(id[:], b)
	return nil
}
