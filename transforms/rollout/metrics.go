package rollout

import (
	"github.com/prometheus/client_golang/prometheus"

	"millrace/schemas"
)

// The stage's metrics. Collectors returns them for a registry.
var (
	finished = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rollout_trajectories_total", Help: "Trajectories by termination reason.",
	}, []string{"termination"})
	sampledTokens = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rollout_sampled_tokens_total", Help: "Tokens sampled by the policy.",
	})
	turns = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rollout_turns_total", Help: "Agent turns.",
	})
	retries = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rollout_failed_attempts_total", Help: "Attempts lost to infrastructure failures.",
	})
)

// Collectors are the stage's metrics.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{finished, sampledTokens, turns, retries}
}

func observe(t schemas.Trajectory) {
	finished.WithLabelValues(string(t.Termination)).Inc()
	turns.Add(float64(len(t.Steps)))
	n := 0
	for _, s := range t.Steps {
		n += int(s.TokenEnd - s.TokenStart)
	}
	sampledTokens.Add(float64(n))
}
