package adminhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"millrace/internal/metric"
)

// Options configure a Server.
type Options struct {
	// Addr is host:port to listen on.
	Addr string
	// Search allows the next free port (up to 20 on) when the port of Addr is taken. Set for the default address
	// only: an address that was asked for is taken as it is.
	Search bool
	// Live reports whether the loops turn; nil error means yes.
	Live func() error
	// Ready reports whether clients are served; nil error means yes.
	Ready func() error
	// Health is the value of /v1/cluster/health, encoded as JSON.
	Health func() any
	// Metrics feed /metrics.
	Metrics *metric.Registry
	// Version is told by millrace_build_info.
	Version string
}

// Server is the admin listener. Any goroutine.
type Server struct {
	http *http.Server
	addr net.Addr
}

// searchPorts is how many ports behind a taken default one are tried.
const searchPorts = 20

// Start listens and serves in the background.
func Start(opts Options) (*Server, error) {
	ln, err := listen(opts)
	if err != nil {
		return nil, err
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if opts.Metrics != nil {
		reg.MustRegister(bridge{opts.Metrics, opts.Version})
	}
	s := &Server{addr: ln.Addr(), http: &http.Server{Handler: mux(opts, reg), ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}}
	go s.http.Serve(ln) //nolint:errcheck // ends with ErrServerClosed at Close
	return s, nil
}

func listen(opts Options) (net.Listener, error) {
	host, portText, err := net.SplitHostPort(opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("admin.listen=%s: want host:port: %w", opts.Addr, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("admin.listen=%s: the port is a number from 0 to 65535", opts.Addr)
	}
	for i := uint64(0); ; i++ {
		ln, err := net.Listen("tcp", net.JoinHostPort(host, strconv.FormatUint(port+i, 10)))
		if err == nil {
			return ln, nil
		}
		if !opts.Search || !errors.Is(err, syscall.EADDRINUSE) || i >= searchPorts {
			return nil, fmt.Errorf("admin.listen=%s: %w", opts.Addr, err)
		}
	}
}

func mux(opts Options, reg *prometheus.Registry) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/{$}", index(opts.Version))
	m.Handle("/metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	m.HandleFunc("/livez", probe(opts.Live))
	m.HandleFunc("/readyz", probe(opts.Ready))
	m.HandleFunc("/v1/cluster/health", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(opts.Health())
	})
	m.HandleFunc("/debug/pprof/", pprof.Index)
	m.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	m.HandleFunc("/debug/pprof/profile", pprof.Profile)
	m.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	m.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return m
}

// probe answers 200 "ok" or 503 with the reason.
func probe(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if check != nil {
			if err := check(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	}
}

// Addr is the address that was taken.
func (s *Server) Addr() net.Addr { return s.addr }

// Close stops the server; requests under way get a second.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.http.Shutdown(ctx)
}
