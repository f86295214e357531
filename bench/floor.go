package bench

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"millrace/bench/sink"
)

// floorCommand is a floor as a process; it prints its address once it listens and ends on SIGTERM.
func floorCommand() *cobra.Command {
	var o sink.Options
	c := &cobra.Command{Use: "floor", Short: "A floor or the null sink", Hidden: true, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		sink.Procs(o.Loops)
		end := make(chan os.Signal, 1)
		signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
		s, err := sink.Serve(o)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), s.Addr())
		<-end
		s.Close()
		return nil
	}}
	f := c.Flags()
	f.StringVar(&o.Mode, "mode", "null", "null, write or echo")
	f.StringVar(&o.Addr, "addr", "127.0.0.1:0", "where to listen")
	f.StringVar(&o.Dir, "dir", "", "for files")
	f.StringVar(&o.Sync, "sync", "none", "none, background or each")
	f.StringVar(&o.Kept, "kept", "", "log directory to take stock of first, as a broker that starts on it must")
	f.IntVar(&o.Loops, "loops", 1, "threads that serve connections")
	f.IntVar(&o.Partitions, "partitions", 64, "of topics made by use")
	f.BoolVar(&o.Check, "check", false, "refuse spoiled batches as a broker must (not for floors)")
	return c
}
