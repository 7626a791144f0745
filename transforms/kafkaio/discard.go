package kafkaio

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterDoFn(discardAck)
	beam.RegisterDoFn(never)
}

// Discard ends a pipeline.
func Discard(s beam.Scope, acks beam.PCollection) {
	s = s.Scope("kafkaio.Discard")
	end(s, beam.ParDo(s, discardAck, acks))
}

// discardAck emits nothing.
func discardAck(Ack, func(Ack)) {}

// end takes a collection into which nothing is emitted out of its stage. A stage
// without an output that leaves it makes Prism spin on a core for as long as its
// bundle takes; so every branch of a pipeline ends with an output that stays empty,
// behind which no bundle ever runs.
func end(s beam.Scope, empty beam.PCollection) {
	beam.ParDo0(s, never, beam.Reshuffle(s, empty))
}

func never(Ack) {}
