package advantage

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/schemas"
)

// Closed is what leaves the stage together: a closed group, or one record that
// is in no group. All of it must be written before any of Sources is committed.
type Closed struct {
	// Samples are all samples of one group, sorted by rollout; empty when this is
	// about a single record.
	Samples []schemas.Sample
	// DeadLetters are to be written with them.
	DeadLetters []schemas.DeadLetter
	// Sources are the records that the above were made of. With nothing else set,
	// the source is a repeated delivery, which leaves no trace but its commit.
	Sources []schemas.Position
}

// An encoded Closed is three parts, each behind its length as uvarint:
//
//	head, JSON | frame of Samples, or nothing | frame of DeadLetters, or nothing
type closedHead struct{ Sources []schemas.Position }

func encodeClosed(c Closed) ([]byte, error) {
	head, err := json.Marshal(closedHead{c.Sources})
	if err != nil {
		return nil, fmt.Errorf("encoding the sources of a closed group: %w", err)
	}
	var samples, letters []byte
	if len(c.Samples) > 0 {
		if samples, err = schemas.Samples.Encode(c.Samples...); err != nil {
			return nil, fmt.Errorf("encoding closed group %s: %w", c.Samples[0].GroupID, err)
		}
	}
	if len(c.DeadLetters) > 0 {
		if letters, err = schemas.DeadLetters.Encode(c.DeadLetters...); err != nil {
			return nil, fmt.Errorf("encoding the dead letters of a closed group: %w", err)
		}
	}
	b := make([]byte, 0, len(head)+len(samples)+len(letters)+3*binary.MaxVarintLen64)
	for _, part := range [][]byte{head, samples, letters} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b, nil
}

func decodeClosed(b []byte) (c Closed, err error) {
	var parts [3][]byte
	rest := b
	for i := range parts {
		n, k := binary.Uvarint(rest)
		if k <= 0 || n > uint64(len(rest)-k) {
			return Closed{}, fmt.Errorf("decoding a closed group of %d bytes: part %d is cut: %w", len(b), i, schemas.ErrCorrupt)
		}
		parts[i], rest = rest[k:k+int(n)], rest[k+int(n):]
	}
	if len(rest) > 0 {
		return Closed{}, fmt.Errorf("decoding a closed group: %d bytes are left over: %w", len(rest), schemas.ErrCorrupt)
	}
	var head closedHead
	if err := json.Unmarshal(parts[0], &head); err != nil {
		return Closed{}, fmt.Errorf("decoding the sources of a closed group: %v: %w", err, schemas.ErrCorrupt)
	}
	c.Sources = head.Sources
	if len(parts[1]) > 0 {
		if c.Samples, err = schemas.Samples.Decode(parts[1]); err != nil {
			return Closed{}, fmt.Errorf("decoding a closed group: %w", err)
		}
	}
	if len(parts[2]) > 0 {
		if c.DeadLetters, err = schemas.DeadLetters.Decode(parts[2]); err != nil {
			return Closed{}, fmt.Errorf("decoding the dead letters of a closed group: %w", err)
		}
	}
	return c, nil
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[Closed](), encodeClosed, decodeClosed)
}
