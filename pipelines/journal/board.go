package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// board writes TensorBoard event files: records in TFRecord framing, each a
// serialized tensorflow.Event. There is no kept Go library for either; the Event
// messages needed are four fields, so they are written by protowire.
//
// TFRecord (tensorflow/core/lib/io/record_writer.h), little endian:
//
//	| length u64 | masked CRC-32C of length u32 | data | masked CRC-32C of data u32 |
//
// Event, Summary and SessionLog (tensorboard/compat/proto/{event,summary}.proto):
//
//	Event      1 wall_time double, 2 step int64, 3 file_version string,
//	           5 summary Summary, 7 session_log SessionLog
//	Summary    1 value repeated { 1 tag string, 2 simple_value float }
//	SessionLog 1 status enum, START = 1
type board struct {
	dir  string
	file *os.File // nil until the first scalars
	size int64    // of the file, which ends with a whole record
}

const (
	fileVersion  = "brain.Event:2"
	sessionStart = 1
)

// scalars writes one event that holds all values.
func (b *board) scalars(step int64, at time.Time, values map[string]float64) error {
	if b.file == nil {
		if err := b.begin(step, at); err != nil {
			return err
		}
	}
	var summary []byte
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := protowire.AppendTag(nil, 1, protowire.BytesType)
		value = protowire.AppendString(value, name)
		value = protowire.AppendTag(value, 2, protowire.Fixed32Type)
		value = protowire.AppendFixed32(value, math.Float32bits(float32(values[name])))
		summary = protowire.AppendTag(summary, 1, protowire.BytesType)
		summary = protowire.AppendBytes(summary, value)
	}
	what := protowire.AppendTag(nil, 5, protowire.BytesType)
	return b.event(step, at, protowire.AppendBytes(what, summary))
}

// begin starts a new event file. TensorBoard reads the files of a directory in
// the order of their names, so where others put the time stands a number that
// rises even if the clock does not. A file that is not the first begins with a
// START, on which TensorBoard forgets what earlier files say of this step and
// later ones.
func (b *board) begin(step int64, at time.Time) error {
	const pattern = "events.out.tfevents.%010d.millrace"
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	for n := 1; b.file == nil; n++ {
		f, err := os.OpenFile(filepath.Join(b.dir, fmt.Sprintf(pattern, n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		b.file = f
		version := protowire.AppendTag(nil, 3, protowire.BytesType)
		if err := b.event(0, at, protowire.AppendString(version, fileVersion)); err != nil || n == 1 {
			return err
		}
	}
	start := protowire.AppendTag(nil, 1, protowire.VarintType)
	start = protowire.AppendVarint(start, sessionStart)
	log := protowire.AppendTag(nil, 7, protowire.BytesType)
	return b.event(step, at, protowire.AppendBytes(log, start))
}

// event writes an Event with the given serialized "what" field, whole or not at
// all: TensorBoard reads no further than a torn record.
func (b *board) event(step int64, at time.Time, what []byte) error {
	e := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
	e = protowire.AppendFixed64(e, math.Float64bits(float64(at.UnixMicro())/1e6))
	e = protowire.AppendTag(e, 2, protowire.VarintType)
	e = protowire.AppendVarint(e, uint64(step))
	n, err := b.file.WriteAt(frameRecord(append(e, what...)), b.size)
	if err != nil {
		return errors.Join(err, b.file.Truncate(b.size))
	}
	b.size += int64(n)
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameRecord puts data in TFRecord framing.
func frameRecord(data []byte) []byte {
	out := binary.LittleEndian.AppendUint64(make([]byte, 0, len(data)+16), uint64(len(data)))
	out = binary.LittleEndian.AppendUint32(out, maskedCRC(out))
	out = append(out, data...)
	return binary.LittleEndian.AppendUint32(out, maskedCRC(data))
}

// maskedCRC is rotated and shifted, since the CRC of data that holds its own CRC
// is a constant (tensorflow/core/lib/hash/crc32c.h).
func maskedCRC(b []byte) uint32 {
	const maskDelta = 0xa282ead8
	crc := crc32.Checksum(b, castagnoli)
	return (crc>>15 | crc<<17) + maskDelta
}

func (b *board) close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}
