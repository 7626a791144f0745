package kafkaio

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterDoFn(discardAck)
}

// Discard ends a pipeline. The Reshuffle matters: a stage whose outputs are all
// consumed inside it makes Prism spin on a core for as long as its bundle takes,
// so nothing that takes time may sit in the same stage as the discard.
func Discard(s beam.Scope, acks beam.PCollection) {
	s = s.Scope("kafkaio.Discard")
	beam.ParDo0(s, discardAck, beam.Reshuffle(s, acks))
}

func discardAck(Ack) {}
