package schemas

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// reseal gives a damaged frame a right head, so that only the checks behind the
// checksum stand between it and the arrays.
func reseal(t testing.TB, frame []byte) []byte {
	t.Helper()
	version := binary.LittleEndian.Uint16(frame[6:])
	rows := binary.LittleEndian.Uint32(frame[16:])
	if err := sealFrame(frame, version, [8]byte(frame[8:16]), int(rows)); err != nil {
		t.Fatal(err)
	}
	return frame
}

// TestHostileContent damages every 4-byte word behind the schema message in
// turn, with the numbers that break readers, under a right checksum. Each frame
// must either decode to valid rows or be refused; decode does not recover.
func TestHostileContent(t *testing.T) {
	words := []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 1 << 20, 1 << 30}
	everyCodec(t, func(t *testing.T, c tested) {
		frame, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for at := frameHead + len(c.schemaMessage()); at+4 <= len(frame); at += 4 {
			for _, w := range words {
				bad := bytes.Clone(frame)
				binary.LittleEndian.PutUint32(bad[at:], w)
				_, err := c.decode(reseal(t, bad))
				if _, invalid := errors.AsType[*InvalidError](err); err != nil && !invalid && !errors.Is(err, ErrCorrupt) {
					t.Fatalf("word %#x at byte %d: unmarked error %v", w, at, err)
				}
				if err != nil {
					refused++
				}
			}
		}
		if refused == 0 {
			t.Error("nothing was refused")
		}
	})
}

// TestHostileMessages are frames with a right checksum that a wrong encoder
// could have written.
func TestHostileMessages(t *testing.T) {
	good := examplePolicyVersions()
	rec := PolicyVersions.Record(good...)
	defer rec.Release()
	l := PolicyVersions.newest()
	seal := func(stream []byte, rows int) []byte {
		frame := append(make([]byte, frameHead), stream...)
		if err := sealFrame(frame, 1, l.fingerprint, rows); err != nil {
			t.Fatal(err)
		}
		return frame
	}
	stream := func(schema *arrow.Schema, recs []arrow.Record, options ...ipc.Option) []byte {
		var b bytes.Buffer
		w := ipc.NewWriter(&b, append(options, ipc.WithSchema(schema))...)
		for _, r := range recs {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	withNull := func() arrow.Record {
		b := array.NewRecordBuilder(memory.DefaultAllocator, l.schema)
		defer b.Release()
		for _, f := range b.Fields() {
			f.AppendNull()
		}
		return b.NewRecord()
	}()
	defer withNull.Release()
	renamed := arrow.NewSchema(l.schema.Fields(), nil)

	for name, frame := range map[string][]byte{
		"no batch":           seal(stream(l.schema, nil), 1),
		"two batches":        seal(stream(l.schema, []arrow.Record{rec, rec}), 2),
		"more rows told":     seal(stream(l.schema, []arrow.Record{rec}), 2),
		"2^32 rows told":     seal(stream(l.schema, []arrow.Record{rec}), math.MaxUint32),
		"no rows told":       seal(stream(l.schema, []arrow.Record{rec}), 0),
		"compressed":         seal(stream(l.schema, []arrow.Record{rec}, ipc.WithLZ4()), 1),
		"nulls":              seal(stream(l.schema, []arrow.Record{withNull}), 1),
		"schema without id":  seal(stream(renamed, []arrow.Record{array.NewRecord(renamed, rec.Columns(), 1)}), 1),
		"empty":              seal(nil, 1),
		"end only":           seal(endOfStream, 1),
		"schema only, twice": seal(append(bytes.Clone(l.encoder.schemaMessage()), stream(l.schema, nil)...), 1),
	} {
		if _, err := PolicyVersions.decode(frame); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := PolicyVersions.decode(seal(stream(l.schema, []arrow.Record{rec}), 1)); err != nil {
		t.Errorf("the undamaged frame: %v", err)
	}
}

// TestHostileCountsTakeNoMemory: more rows, or more elements of a list, than the
// bytes can hold are refused before there is memory for them.
func TestHostileCountsTakeNoMemory(t *testing.T) {
	const many = 1 << 20
	frame, err := Trajectories.Encode(exampleTrajectories()...)
	if err != nil {
		t.Fatal(err)
	}
	frame = append(frame[:len(frame)-len(endOfStream)], make([]byte, many)...) // padding of the last buffer
	frame = append(frame, endOfStream...)
	e := Trajectories.newest().encoder
	binary.LittleEndian.PutUint32(frame[16:], many)
	binary.LittleEndian.PutUint32(frame[frameHead+e.rows:], many)
	binary.LittleEndian.PutUint64(frame[frameHead+e.length:], uint64(len(frame)-frameHead-len(e.prefix)-len(endOfStream)))
	steps := trajectoryColumns[slices.IndexFunc(trajectoryColumns, func(c column[Trajectory]) bool { return c.name == "steps" })]
	offsets := binary.LittleEndian.AppendUint32(make([]byte, 4), many)

	for name, read := range map[string]func() error{
		"rows": func() error { _, err := Trajectories.decode(frame); return err },
		"list": func() error {
			b := &batch{nodes: []int{1, many}, buffers: [][]byte{nil, offsets, nil, make([]byte, many)}}
			return steps.read(b, 1, func(int) *Trajectory { return &Trajectory{} })
		},
	} {
		reseal(t, frame)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "do not fit") {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 2*many {
			t.Errorf("%s: refusing took %d bytes", name, used)
		}
	}
}

// TestForeignRecordIsRefused: a record of other columns is no row.
func TestForeignRecordIsRefused(t *testing.T) {
	rec := Tasks.Record(exampleTask())
	defer rec.Release()
	if _, err := Updates.Rows(rec); !errors.Is(err, ErrCorrupt) {
		t.Errorf("reading a task as an update: %v", err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, PolicyVersions.Schema())
	defer b.Release()
	for _, f := range b.Fields() {
		f.AppendNull()
	}
	nulls := b.NewRecord()
	defer nulls.Release()
	if _, err := PolicyVersions.Rows(nulls); !errors.Is(err, ErrCorrupt) {
		t.Errorf("reading a record of nulls: %v", err)
	}
}

func goldenSeeds(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "v*", "*.frame"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// FuzzDecode gives any bytes to every codec. Properties: no panic; what decodes
// can be encoded again.
func FuzzDecode(f *testing.F) {
	goldenSeeds(f)
	all := codecs()
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, c := range all {
			if _, err := c.decode(frame); err != nil {
				continue
			}
			if err := c.valid(frame); err != nil {
				t.Errorf("%s: decoded, but %v", c.name(), err)
			}
		}
	})
}

// FuzzDecodeSealed is FuzzDecode behind the checksum: kind chooses the codec,
// tail replaces everything behind the schema message, and head is made right.
func FuzzDecodeSealed(f *testing.F) {
	all := codecs()
	for kind, c := range all {
		frame, err := c.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(kind), frame[16], frame[frameHead+len(c.schemaMessage()):])
	}
	f.Fuzz(func(t *testing.T, kind, rows uint8, tail []byte) {
		c := all[int(kind)%len(all)]
		good, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		frame := append(good[:frameHead+len(c.schemaMessage())], tail...)
		frame[16] = rows
		frame = reseal(t, frame)
		if _, err := c.decode(frame); err != nil {
			return
		}
		if err := c.valid(frame); err != nil {
			t.Errorf("%s: decoded, but %v", c.name(), err)
		}
	})
}

// FuzzSamplesRoundTrip: whatever a valid sample holds comes back.
func FuzzSamplesRoundTrip(f *testing.F) {
	f.Add("id", "group", int64(3), []byte{1, 0x80, 0, 0xff}, 0.5, -0.25, "finish")
	f.Add("i\xff", "", int64(-1), []byte{}, math.Inf(1), math.NaN(), "\xff")
	f.Fuzz(func(t *testing.T, id, group string, iteration int64, tokens []byte, reward, advantage float64, tool string) {
		s := Sample{
			ID: id, GroupID: group, Iteration: iteration, Reward: reward, Advantage: advantage, Weight: 1,
			Termination: Finished, GroupMembers: 1, GroupSize: 1, Tools: []string{tool, ""},
		}
		for i, b := range tokens {
			trained := i > 0 && b&0x80 != 0
			s.Tokens = append(s.Tokens, int32(b))
			s.LossMask = append(s.LossMask, trained)
			logProb, version := float32(0), int32(-1)
			if trained {
				logProb, version = -float32(b)/7, int32(b)
			}
			s.LogProbs = append(s.LogProbs, logProb)
			s.Versions = append(s.Versions, version)
		}
		frame, err := Samples.Encode(s)
		if err != nil {
			if s.Validate() == nil {
				t.Fatalf("a valid sample is refused: %v", err)
			}
			return
		}
		rows, err := Samples.decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		s.Tools[0] = strings.ToValidUTF8(tool, "\uFFFD")
		again, err := Samples.Encode(rows...)
		if err != nil || !bytes.Equal(frame, again) {
			t.Fatalf("encoding the decoded sample gives other bytes (error %v)", err)
		}
		if rows[0].ID != s.ID || rows[0].Tools[0] != s.Tools[0] || len(rows[0].Tokens) != len(tokens) {
			t.Errorf("sample came back as %+v", rows[0])
		}
	})
}
