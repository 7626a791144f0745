package metrics

import (
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func serve(t *testing.T, registry *prometheus.Registry) *Server {
	t.Helper()
	s, err := Serve(":0", registry)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func get(t *testing.T, s *Server, path string) (status int, body string) {
	t.Helper()
	r, err := http.Get("http://" + s.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func TestServesMetricsAndHealth(t *testing.T) {
	registry := prometheus.NewRegistry()
	gauges := &Gauges{}
	registry.MustRegister(gauges)
	s := serve(t, registry)
	gauges.Set(4, map[string]float64{"actor/grad_norm": 0.5, "val/heldout-fault/pass@1": 0.75, "a/b": 1, "a_b": 2, "reward/mean": math.NaN()})
	status, body := get(t, s, "/metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics answered %d: %s", status, body)
	}
	for _, line := range []string{
		"millrace_step 4", "millrace_actor_grad_norm 0.5", "millrace_val_heldout_fault_pass_1 0.75",
		"millrace_a_b 1", "millrace_reward_mean NaN",
	} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("/metrics has no line %q:\n%s", line, body)
		}
	}
	if status, body := get(t, s, "/healthz"); status != http.StatusOK || body != "ok\n" {
		t.Errorf("/healthz answered %d %q", status, body)
	}
}

func TestServesThisMachineOnlyUnlessTold(t *testing.T) {
	for _, c := range []struct {
		addr  string
		local bool
	}{{":0", true}, {"localhost:0", true}, {"0.0.0.0:0", false}} {
		s, err := Serve(c.addr, prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		if got := s.listener.Addr().(*net.TCPAddr).IP.IsLoopback(); got != c.local {
			t.Errorf("Serve(%q) listens on %s", c.addr, s.Addr())
		}
		if status, _ := get(t, s, "/debug/pprof/goroutine?debug=1"); (status == http.StatusOK) != c.local {
			t.Errorf("Serve(%q) answers %d for a profile", c.addr, status)
		}
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
}

func TestBusyPortIsOneClearLine(t *testing.T) {
	first := serve(t, prometheus.NewRegistry())
	_, err := Serve(first.Addr(), prometheus.NewRegistry())
	want := "metrics address " + first.Addr() + " is in use: choose another port, or :0 for a free one"
	if err == nil || err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

func TestRefusesAddressWithoutPort(t *testing.T) {
	for _, addr := range []string{"9464", "", "::1"} {
		if _, err := Serve(addr, prometheus.NewRegistry()); err == nil || !strings.Contains(err.Error(), "must be host:port") {
			t.Errorf("Serve(%q): error %v", addr, err)
		}
	}
}

func TestCloseFreesThePort(t *testing.T) {
	first := serve(t, prometheus.NewRegistry())
	for range 2 {
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
	second, err := Serve(first.Addr(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
