package bench

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"millrace/bench/enginebench"
)

// engineCommand measures the storage engine inside this process.
func engineCommand() *cobra.Command {
	var o enginebench.Options
	var asJSON bool
	c := &cobra.Command{Use: "engine", Short: "Measure the storage engine alone, without sockets and protocol", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) (err error) {
		if o.Dir == "" {
			if o.Dir, err = os.MkdirTemp(".", "bench-engine-"); err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(o.Dir) }()
		}
		r, err := enginebench.Run(cmd.Context(), o)
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), enginebench.Summary(r))
		return err
	}}
	f := c.Flags()
	f.StringVar(&o.Dir, "dir", "", "log directory, new or empty (default: one that is removed afterwards)")
	f.IntVar(&o.Loops, "loops", 1, "event loops")
	f.IntVar(&o.Partitions, "partitions", 6, "partitions")
	f.IntVar(&o.Depth, "depth", 4, "appends in flight per partition")
	f.IntVar(&o.RecordSize, "record-size", 1024, "bytes of a record's value")
	f.IntVar(&o.BatchBytes, "batch-bytes", 65536, "upper bound of a batch")
	f.Int64Var(&o.Bytes, "bytes", 4<<30, "payload to append")
	f.BoolVar(&o.Synced, "synced", false, "wait for the disk, as acks=all does")
	f.BoolVar(&o.ReadBack, "read-back", false, "read everything afterwards and check it")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}
