package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/kafkatool"
)

// Commands returns the subcommands to mount under millrace.
func Commands() []*cobra.Command {
	return []*cobra.Command{topicCommand(), produceCommand(), consumeCommand(), groupCommand(), logCommand(), clusterCommand(), installCommand(), kafkaCommand()}
}

// ExitCode is the exit code for an error of a subcommand: 3 where no broker answered, 4 where what was asked for is not there, 5 where a check
// found something, else 1.
func ExitCode(err error) int {
	var code exit
	switch {
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, conn.ErrNoBroker):
		return 3
	case errors.Is(err, errNotFound), errors.Is(err, kafkatool.ErrNoGroup), errors.Is(err, kafkatool.ErrNotThere), missing(err):
		return 4
	case errors.Is(err, errUnwell):
		return 5
	}
	return 1
}

// missing reports whether a broker said that what was named is not there.
func missing(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.GroupIDNotFound)
}

// refused is a broker's refusal of what is done to something: not found, or its words.
func refused(what string, err error, message string) error {
	switch {
	case missing(err):
		return fmt.Errorf("%s: %w", what, errNotFound)
	case message != "":
		return fmt.Errorf("%s: %s", what, message)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Told reports whether the user has seen what an error is about, so that nothing more is to be printed.
func Told(err error) bool {
	var code exit
	return errors.As(err, &code)
}

// exit is an error that has been told already.
type exit int

func (x exit) Error() string { return fmt.Sprintf("exit code %d", int(x)) }

var (
	errNotFound = errors.New("not found")
	errUnwell   = errors.New("not well")
)

// flags are those that every subcommand has. Owned by its command.
type flags struct {
	bootstrap, config, output string
	set                       []string
	timeout                   time.Duration
}

func (f *flags) add(c *cobra.Command) {
	f.addConnection(c)
	c.PersistentFlags().DurationVar(&f.timeout, "timeout", defaultTimeout, "how long an answer may take")
}

const defaultTimeout = 30 * time.Second

// addConnection adds those that commands without a bound on their time have too.
func (f *flags) addConnection(c *cobra.Command) {
	p := c.PersistentFlags()
	f.timeout = defaultTimeout
	p.StringVarP(&f.bootstrap, "bootstrap-server", "b", "", "brokers as HOST:PORT,... (default $MILLRACE_BOOTSTRAP, else localhost:9092)")
	p.StringVar(&f.config, "client-config", "", "property `FILE` of Kafka's clients, for TLS and SASL")
	p.StringArrayVarP(&f.set, "property", "X", nil, "a client property, `NAME=VALUE`; may be repeated")
	f.addOutput(c)
}

// addOutput adds what commands without a broker have too.
func (f *flags) addOutput(c *cobra.Command) {
	c.PersistentFlags().StringVarP(&f.output, "output", "o", "text", "text or json")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

func (f *flags) address() string {
	if f.bootstrap != "" {
		return f.bootstrap
	}
	if e := os.Getenv("MILLRACE_BOOTSTRAP"); e != "" {
		return e
	}
	return kafkatool.DefaultBootstrap
}

func (f *flags) properties() (conn.Properties, error) {
	p := conn.Properties{}
	if err := p.LoadFile(f.config); err != nil {
		return nil, err
	}
	for _, pair := range f.set {
		if err := p.Set(pair); err != nil {
			return nil, err
		}
	}
	p.Default("client.id", "millrace-cli")
	return p, nil
}

func (f *flags) json() (bool, error) {
	switch f.output {
	case "text":
		return false, nil
	case "json":
		return true, nil
	}
	return false, fmt.Errorf("-o %s: text and json are known", f.output)
}

// check reads what can be wrong before anybody is asked.
func (f *flags) check() (asJSON bool, err error) {
	for _, a := range conn.Servers(f.address()) {
		if _, port, err := net.SplitHostPort(a); err != nil || port == "" {
			return false, fmt.Errorf("%q is no broker's address: HOST:PORT is meant", a)
		}
	}
	if f.timeout <= 0 {
		return false, fmt.Errorf("--timeout %s: a time above 0 is meant, such as 30s", f.timeout)
	}
	return f.json()
}

// unanswered turns the error of a question that nobody answered as a broker does into one that says so.
func (f *flags) unanswered(bounded context.Context, err error) error {
	var closed *kgo.ErrFirstReadEOF
	switch {
	case err == nil:
	case errors.As(err, &closed):
		return fmt.Errorf("%w answered at %s: the connection was closed at once; is TLS switched on at one end only?", conn.ErrNoBroker, f.address())
	case errors.Is(bounded.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%w answered at %s within %s (--timeout)", conn.ErrNoBroker, f.address(), f.timeout)
	}
	return err
}

// session is a connected command. Owned by its run.
type session struct {
	ctx  context.Context
	cl   *kgo.Client
	adm  *kadm.Client
	out  *printer
	args []string
}

// withBroker wraps a command's work: it connects, bounds the time and closes.
func (f *flags) withBroker(run func(s *session) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		asJSON, err := f.check()
		if err != nil {
			return err
		}
		p, err := f.properties()
		if err != nil {
			return err
		}
		ctx, ended, stop := signalled()
		defer stop()
		bounded, cancel := context.WithTimeout(ctx, f.timeout)
		defer cancel()
		cl, err := conn.Open(bounded, f.address(), p)
		if err != nil {
			return err
		}
		defer cl.Close()
		err = run(&session{ctx: bounded, cl: cl, adm: kadm.NewClient(cl), out: &printer{w: c.OutOrStdout(), json: asJSON}, args: args})
		if sig := ended(); sig != 0 && err != nil {
			return exit(128 + int(sig))
		}
		return f.unanswered(bounded, err)
	}
}

// Group is a command that only holds others: alone it shows its help and ends with 2, an unknown subcommand is an error.
func Group(use, short string, subs ...*cobra.Command) *cobra.Command {
	return group(use, short, nil, subs...)
}

// group is Group with flags that all its subcommands have.
func group(use, short string, f *flags, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		_ = c.Help()
		return exit(2)
	}}
	if f != nil {
		f.add(c)
	}
	c.AddCommand(subs...)
	return c
}

// kafkaCommand runs Kafka's tools without links: millrace kafka kafka-topics --list.
func kafkaCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kafka TOOL [FLAGS]",
		Short:              "Run one of Kafka's tools without a link to it",
		Long:               "Runs one of Apache Kafka's command-line tools as this program knows them: " + strings.Join(kafkatool.Names(), ", ") + ".",
		Example:            "  millrace kafka topics --bootstrap-server localhost:9092 --list",
		DisableFlagParsing: true,
		ValidArgs:          kafkatool.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				_ = c.Help()
				return exit(2)
			}
			if args[0] == "--help" || args[0] == "-h" {
				return c.Help()
			}
			name := args[0]
			if !strings.HasPrefix(name, "kafka-") {
				name = "kafka-" + name
			}
			if !kafkatool.Knows(name) || kafkatool.IsServer(name) {
				return fmt.Errorf("%s is no tool of Kafka that is known here: %w", name, errNotFound)
			}
			if code := runTool(name, args[1:], nil); code != 0 {
				return exit(code)
			}
			return nil
		},
	}
}
