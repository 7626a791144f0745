// Package metrics serves a process's metrics to Prometheus.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// requestTimeout bounds reading a request and writing an answer, so that no
	// client holds a connection for ever.
	requestTimeout = 10 * time.Second
	// closeTimeout bounds how long Close waits for scrapes under way.
	closeTimeout = 3 * time.Second
)

// Server answers /metrics with the metrics of a registry and /healthz with 200
// as long as the process serves at all. To its own machine alone it also shows
// where the process spends its time, at /debug/pprof/.
type Server struct {
	http     *http.Server
	listener net.Listener
	ended    chan struct{} // closed when serving has ended, with err
	err      error
}

// Serve listens on addr, "host:port", and serves until Close. Without a host
// only this machine is served; "0.0.0.0:9464" serves every network. Port 0 takes
// a free one, told by Addr.
func Serve(addr string, registry *prometheus.Registry) (*Server, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("metrics address %q: must be host:port or :port: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("metrics address %s is in use: choose another port, or :0 for a free one", net.JoinHostPort(host, port))
	}
	if err != nil {
		return nil, fmt.Errorf("listening for metrics: %w", err)
	}
	mux := http.NewServeMux()
	// One collector that fails must not hide what the others have to say.
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "ok\n")
	})
	if listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	s := &Server{
		http:     &http.Server{Handler: mux, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout},
		listener: listener,
		ended:    make(chan struct{}),
	}
	go func() {
		defer close(s.ended)
		s.err = s.http.Serve(listener)
	}()
	return s, nil
}

// Addr is the address served, "127.0.0.1:9464".
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops listening, lets scrapes under way finish, for a few seconds at
// most, and returns why serving ended if that was not Close. It may be called
// again.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
	<-s.ended
	if !errors.Is(s.err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics on %s: %w", s.Addr(), s.err)
	}
	return nil
}
