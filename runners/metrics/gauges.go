package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Gauges is a collector of the numbers of the last step, under their own names
// with every character that Prometheus does not know made an underscore:
// "actor/grad_norm" becomes "millrace_actor_grad_norm". Of two names that become
// one, the first in order is exported. It is safe for concurrent use.
type Gauges struct {
	mu     sync.Mutex // guards values
	values map[string]float64
}

// Set replaces all values.
func (g *Gauges) Set(step int64, values map[string]float64) {
	next := maps.Clone(values)
	if next == nil {
		next = map[string]float64{}
	}
	next["step"] = float64(step)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.values = next
}

// Describe sends nothing: which metrics there are is known only with the first
// step.
func (g *Gauges) Describe(chan<- *prometheus.Desc) {}

// Collect sends the values last set.
func (g *Gauges) Collect(out chan<- prometheus.Metric) {
	g.mu.Lock()
	values := g.values // never written again
	g.mu.Unlock()
	sent := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		flat := flatten(name)
		if sent[flat] {
			continue
		}
		sent[flat] = true
		out <- prometheus.MustNewConstMetric(
			prometheus.NewDesc(flat, "The last step's "+name+".", nil, nil), prometheus.GaugeValue, values[name])
	}
}

func flatten(name string) string {
	return "millrace_" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
}
