package remote

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// BenchmarkRequests is one turn of a session against a server that does nothing: a
// prompt of so many tokens is sent and echoed, and 100 are answered.
func BenchmarkRequests(b *testing.B) {
	for _, tokens := range []int{1000, 30000} {
		b.Run(fmt.Sprintf("prompt=%d", tokens), func(b *testing.B) {
			f := newFake(b, OpenAI)
			f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/v1/models" {
					return false
				}
				reply(w, map[string]any{"data": []any{map[string]any{"id": "policy", "max_model_len": 40000}}})
				return true
			}
			cfg := config(f)
			cfg.HealthEvery = time.Hour
			p := open(b, cfg, "w")
			prompt := make([]int32, tokens)
			turn := sampling
			turn.MaxTokens = 100
			b.SetParallelism(8)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s, err := p.Open(b.Context())
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := s.Generate(b.Context(), prompt, turn); err != nil {
						b.Error(err)
					}
					s.Close()
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
