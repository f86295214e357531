package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"millrace/broker"
	"millrace/internal/adminhttp"
	"millrace/internal/bufpool"
	"millrace/internal/config"
	"millrace/internal/loglevel"
	"millrace/internal/metric"
	"millrace/kafka"
	"millrace/netpoll"
)

func serveCommand() *cobra.Command {
	var overrides []string
	cmd := &cobra.Command{
		Use:   "serve [server.properties]",
		Short: "Run a broker",
		Long: "Run a broker. Without a file it is a complete single node: clients connect to localhost:9092, data is kept in ./data.\n" +
			"A server.properties of Apache Kafka is taken as it is; what becomes of each key is said at the start.",
		Example: "  millrace serve\n  millrace serve server.properties --override log.dirs=/var/lib/millrace",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			loaded, err := config.Load(path, overrides)
			if err != nil {
				return err
			}
			return serve(loaded)
		},
	}
	cmd.Flags().StringArrayVar(&overrides, "override", nil, "key=value, as in the file, and stronger than it; may be repeated")
	return cmd
}

// server is a running broker process. Owned by the main goroutine.
type server struct {
	loaded *config.Loaded
	log    *slog.Logger
	levels *loglevel.Levels
	reason string // why this driver
	loops  []*netpoll.Loop
	ran    sync.WaitGroup
	group  *netpoll.Group
	node   *broker.Node
	front  *kafka.Frontend
	admin  *adminhttp.Server
	fatal  chan error
	began  time.Time
	gaveUp bool // the start failed: its error is all that is said
}

func serve(loaded *config.Loaded) error {
	s := &server{loaded: loaded, fatal: make(chan error, 16), began: time.Now()}
	s.levels = newLevels(loaded.Broker)
	s.log = s.levels.Main()
	slog.SetDefault(s.log)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	for _, w := range loaded.Warnings {
		s.log.Warn(w)
	}
	reportFindings(s.log, loaded)
	limit := time.Duration(loaded.Broker.ShutdownTimeoutMs) * time.Millisecond
	if up, err := s.startOrGiveUp(limit, signals); !up {
		return err
	}
	s.banner()
	select {
	case sig := <-signals:
		s.log.Info("stopping", "signal", sig.String())
	case err := <-s.fatal:
		s.log.Error("the broker cannot go on", "error", err)
		os.Exit(1)
	}
	return s.stopWithin(limit, signals)
}

// startOrGiveUp starts the broker, unless a signal or the death of a part comes first: recovery may take long, and a
// start that waits for a loop which could not be opened would never end. No client was let in by then, so that nothing
// is lost by leaving.
func (s *server) startOrGiveUp(limit time.Duration, signals <-chan os.Signal) (up bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan error, 1)
	go func() { started <- s.start(ctx) }()
	select {
	case err = <-started:
		if err == nil {
			return true, nil
		}
	case err = <-s.fatal:
		return false, fmt.Errorf("the broker cannot start: %w", err)
	case sig := <-signals:
		s.log.Info("stopping while starting", "signal", sig.String())
		cancel()
		var late <-chan time.Time
		if limit > 0 {
			late = time.After(limit)
		}
		select {
		case <-started:
			return false, s.stopWithin(limit, signals)
		case <-late:
			return false, errors.New("the start did not end in time; nothing was acknowledged in it")
		}
	}
	s.gaveUp = true
	if serr := s.stopWithin(limit, signals); serr != nil {
		s.log.Warn("giving up the start", "error", serr)
	}
	return false, err
}

func (s *server) start(ctx context.Context) error {
	c := s.loaded.Broker
	metrics := metric.NewRegistry()
	if err := s.startLoops(metrics); err != nil {
		return err
	}
	node, err := broker.Open(ctx, broker.Options{Layers: s.loaded.Layers(), Loops: s.loops, Levels: s.levels, Metrics: metrics,
		Fatal: func(err error) { s.fatal <- err }})
	if err != nil {
		return err
	}
	s.node = node
	s.front = kafka.New(kafka.Options{Node: node, Log: s.levels.Logger("kafka")})
	if err := s.startAdmin(metrics); err != nil {
		return err
	}
	endpoints, err := s.listen(c)
	if err != nil {
		return err
	}
	if err := node.Register(ctx, endpoints); err != nil {
		return err
	}
	s.front.Serve()
	return nil
}

// startLoops picks the driver and starts one thread per loop.
func (s *server) startLoops(metrics *metric.Registry) error {
	c := s.loaded.Broker
	factory, reason, err := netpoll.Choose(c.IOEngine, drivers)
	if err != nil {
		return err
	}
	s.reason = reason
	n := loopCount(c.NumLoops)
	runtime.GOMAXPROCS(n + spareProcs)
	mode, _ := netpoll.ParseAppendMode(c.LogAppendMode)
	for i := 0; i < n; i++ {
		l, err := netpoll.NewLoop(netpoll.LoopOptions{Index: i, Driver: factory, AppendMode: mode, CopyFiles: !c.FetchZeroCopy, Metrics: metrics,
			Log: s.levels.Logger("netpoll"), Pool: bufpool.New(requestBudget(c, n))})
		if err != nil {
			return err
		}
		s.loops = append(s.loops, l)
	}
	for _, l := range s.loops {
		s.ran.Add(1)
		go func() {
			defer s.ran.Done()
			if err := l.Run(); err != nil {
				s.fatal <- fmt.Errorf("%s: %w", l.Name(), err)
			}
		}()
	}
	return nil
}

// defaultRequestBytes bounds the requests in memory, over all loops, where queued.max.request.bytes does not.
const defaultRequestBytes = 512 << 20

// requestBudget is what requests on one loop may occupy; one of the largest always fits.
func requestBudget(c *config.BrokerConfig, loops int) int64 {
	total := c.QueuedMaxRequestBytes
	if total <= 0 {
		total = defaultRequestBytes
	}
	return max(total/int64(loops), 2*int64(c.SocketRequestMaxBytes))
}

// stopWithin stops cleanly, or gives up when the time is over; no limit means that there is none. Further signals change
// nothing, as in Kafka: whoever cannot wait has SIGKILL, which loses nothing that was acknowledged.
func (s *server) stopWithin(limit time.Duration, signals <-chan os.Signal) error {
	done := make(chan error, 1)
	go func() { done <- s.stop() }()
	var late <-chan time.Time
	if limit > 0 {
		late = time.After(limit)
	}
	for {
		select {
		case err := <-done:
			if err == nil && s.node != nil && !s.gaveUp {
				s.log.Info("stopped cleanly")
			}
			return err
		case <-late:
			return fmt.Errorf("the stop took longer than shutdown.timeout.ms=%d; what was acknowledged is safe, the next start recovers the rest", s.loaded.Broker.ShutdownTimeoutMs)
		case sig := <-signals:
			s.log.Warn("still stopping", "signal", sig.String())
		}
	}
}

// stop ends what was started, in the opposite order: no new connections, finish what was received, answer parked
// fetches, sync, checkpoint, mark the stop clean.
func (s *server) stop() error {
	if s.group != nil {
		s.group.CloseListeners()
		s.group.FinishConns()
	}
	if s.front != nil {
		s.front.Drain(drainLimit)
	}
	if s.group != nil {
		s.group.CloseConns(nil, nil)
	}
	var err error
	if s.node != nil {
		err = s.node.Close(context.Background())
	}
	if s.admin != nil {
		s.admin.Close()
	}
	for _, l := range s.loops {
		l.Stop()
	}
	s.ran.Wait()
	return err
}

// drainLimit is how long requests that were received may take to be answered when the broker stops.
const drainLimit = 3 * time.Second
