package kafkaio

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/schemas"
)

// The DoFns of this package are registered by reflection. Package register would
// make calls cheaper by a microsecond, which none of them would notice, but its
// wrappers for five parameters take the compiler half a minute and 1.5 GB.
func init() {
	beam.RegisterType(reflect.TypeFor[Record]())
	beam.RegisterType(reflect.TypeFor[Header]())
	beam.RegisterType(reflect.TypeFor[Output]())
	beam.RegisterType(reflect.TypeFor[Result]())
	beam.RegisterType(reflect.TypeFor[Ack]())
}

// Record is one record read from a topic. Key and Value are copies that nobody
// else holds: the receiver owns them.
type Record struct {
	Key, Value []byte
	Headers    []Header
	// Time is the broker's timestamp, Unix time in milliseconds.
	Time int64
	// Source is where the record lies; Source.Offset is its own offset.
	Source schemas.Position
}

// IDHeader is the name of the header that holds a record's id.
const IDHeader = "id"

// ID is the record's id, empty if it has none.
func (r Record) ID() string {
	for _, h := range r.Headers {
		if h.Key == IDHeader {
			return string(h.Value)
		}
	}
	return ""
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// Output is one record to write. Key decides the partition (murmur2, as Java's
// default partitioner); a nil key goes anywhere. ID is written as the header
// "id" for consumers that drop duplicates; empty writes no header. Headers are
// written behind it. Key and Value must not be changed after they were handed
// over.
type Output struct {
	Topic      string
	Key, Value []byte
	ID         string
	Headers    []Header
}

// Result is what a stage made of some source records. Empty Outputs is a
// result too: it lets the sources be committed.
type Result struct {
	Sources []schemas.Position
	Outputs []Output
}

// Ack says that everything made from these source records is durable.
type Ack struct {
	// Sources are the records' own positions.
	Sources []schemas.Position
	// Outputs is the number of records written for them.
	Outputs int64
}
