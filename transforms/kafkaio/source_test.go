package kafkaio

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func TestEndless(t *testing.T) {
	end := Latest
	for _, c := range []struct {
		name string
		to   []*Position // of the sources
		want bool
	}{
		{"no source", nil, false},
		{"one that ends", []*Position{&end}, false},
		{"one that does not", []*Position{nil}, true},
		{"one of each", []*Position{&end, nil}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := beam.NewPipelineWithRoot()
			beam.Create(s, 1)
			for _, to := range c.to {
				Read(s, ReadConfig{Source: Source{Job: t.Name(), Brokers: "127.0.0.1:1", Topic: "t", To: to}})
			}
			t.Cleanup(func() { Stop(t.Name()) })
			edges, _, err := p.Build()
			if err != nil {
				t.Fatal(err)
			}
			if got := Endless(edges); got != c.want {
				t.Errorf("Endless: %v", got)
			}
		})
	}
}
