package kafkaio

import (
	"fmt"
	"math"
	"strconv"
)

// Position says where in a partition to begin or end: a number, or a name
// that is resolved when the job starts. The zero value is [Committed].
type Position struct {
	symbol symbol
	offset int64 // meaningful only for the symbol numeric
}

type symbol uint8

const (
	committed symbol = iota
	earliest
	latest
	numeric
)

var (
	// Committed is the group's committed position, or Earliest if it has none.
	Committed = Position{symbol: committed}
	// Earliest is the oldest record kept.
	Earliest = Position{symbol: earliest}
	// Latest is the end of the log at the moment of asking: as a start it skips
	// what is there, as an end it reads exactly what is there.
	Latest = Position{symbol: latest}
)

// At is the position whose next record is offset. It panics on a negative
// offset, which no partition has.
func At(offset int64) Position {
	if offset < 0 {
		panic(fmt.Sprintf("kafkaio.At: negative offset %d", offset))
	}
	return Position{symbol: numeric, offset: offset}
}

// ParsePosition reads the text form: "committed", "earliest", "latest" or a
// decimal offset without sign or leading zeros. Parse and String are inverse.
func ParsePosition(text string) (Position, error) {
	switch text {
	case "committed":
		return Committed, nil
	case "earliest":
		return Earliest, nil
	case "latest":
		return Latest, nil
	}
	offset, err := strconv.ParseInt(text, 10, 64)
	if err != nil || offset < 0 || strconv.FormatInt(offset, 10) != text {
		return Position{}, fmt.Errorf(`position %q: want "committed", "earliest", "latest" or an offset from 0 to %d`, text, int64(math.MaxInt64))
	}
	return At(offset), nil
}

// String is the text form.
func (p Position) String() string {
	switch p.symbol {
	case committed:
		return "committed"
	case earliest:
		return "earliest"
	case latest:
		return "latest"
	}
	return strconv.FormatInt(p.offset, 10)
}

// MarshalText and UnmarshalText make a Position a string in JSON and YAML.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is ParsePosition.
func (p *Position) UnmarshalText(text []byte) error {
	parsed, err := ParsePosition(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// bounds are the numbers that names resolve to in one partition.
type bounds struct {
	first, last int64 // half open: last is the next offset to be written
	committed   int64 // -1 when the group has none
}

// resolve turns p into a number. A number outside of [first, last] is an
// [ErrOffsetOutOfRange]: reading on from somewhere else would lose records
// silently.
func (p Position) resolve(b bounds) (int64, error) {
	offset := p.offset
	switch p.symbol {
	case earliest:
		return b.first, nil
	case latest:
		return b.last, nil
	case committed:
		if b.committed < 0 {
			return b.first, nil
		}
		offset = b.committed
	}
	if offset < b.first || offset > b.last {
		return 0, fmt.Errorf("position %s (%d): %w: the log holds [%d, %d)", p, offset, ErrOffsetOutOfRange, b.first, b.last)
	}
	return offset, nil
}
