package schemas

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var write = flag.Bool("write", false, "write the golden files of a new version")

// everyCodec runs a test on each codec with its example rows.
func everyCodec(t *testing.T, test func(t *testing.T, c tested)) {
	for _, c := range codecs() {
		t.Run(c.name(), func(t *testing.T) { test(t, c) })
	}
}

// tested hides the row type of a codec and its examples.
type tested interface {
	name() string
	version() int
	encode() ([]byte, error)
	decode(frame []byte) (int, error) // without recover
	roundTrip(t *testing.T, frame []byte)
	record() arrow.Record
	viaRecord(t *testing.T)
	streams(t *testing.T) [][]byte // of each row alone and of all
	valid(frame []byte) error
	schemaMessage() []byte
}

type examples[T Row] struct {
	codec *Codec[T]
	rows  []T
}

func codecs() []tested {
	return []tested{
		examples[Task]{Tasks, exampleTasks()},
		examples[Trajectory]{Trajectories, exampleTrajectories()},
		examples[Reward]{Rewards, exampleRewards()},
		examples[Sample]{Samples, exampleSamples()},
		examples[Update]{Updates, exampleUpdates()},
		examples[DeadLetter]{DeadLetters, exampleDeadLetters()},
		examples[PolicyVersion]{PolicyVersions, examplePolicyVersions()},
		examples[Measurement]{Measurements, exampleMeasurements()},
		examples[Blob]{Blobs, exampleBlobs()},
		examples[Member]{Members, exampleMembers()},
	}
}

func (e examples[T]) name() string            { return e.codec.Name() }
func (e examples[T]) version() int            { return e.codec.Version() }
func (e examples[T]) encode() ([]byte, error) { return e.codec.Encode(e.rows...) }
func (e examples[T]) record() arrow.Record    { return e.codec.Record(e.rows...) }
func (e examples[T]) schemaMessage() []byte   { return e.codec.newest().encoder.schemaMessage() }

func (e examples[T]) decode(frame []byte) (int, error) {
	rows, err := e.codec.decode(frame)
	return len(rows), err
}

func (e examples[T]) roundTrip(t *testing.T, frame []byte) {
	t.Helper()
	got, err := e.codec.Decode(frame)
	if err != nil {
		t.Fatal(err)
	}
	for i := range frame { // the rows must not share the frame's memory
		frame[i] = 0xa5
	}
	if diff := cmp.Diff(e.rows, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows differ after the round trip:\n%s", diff)
	}
}

func (e examples[T]) viaRecord(t *testing.T) {
	t.Helper()
	rec := e.codec.Record(e.rows...)
	defer rec.Release()
	slice := rec.NewSlice(1, int64(len(e.rows)))
	defer slice.Release()
	got, err := e.codec.Rows(slice)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e.rows[1:], got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows differ after a slice of a record:\n%s", diff)
	}
}

func (e examples[T]) streams(t *testing.T) (all [][]byte) {
	t.Helper()
	for i := range len(e.rows) + 1 {
		rows := e.rows
		if i < len(e.rows) {
			rows = rows[i : i+1]
		}
		stream, err := e.codec.newest().encode(0, rows)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, stream)
	}
	return all
}

// valid decodes a frame and encodes the rows again.
func (e examples[T]) valid(frame []byte) error {
	rows, err := e.codec.decode(frame)
	if err != nil {
		return err
	}
	_, err = e.codec.Encode(rows...)
	return err
}

func TestRoundTrip(t *testing.T) {
	everyCodec(t, func(t *testing.T, c tested) {
		frame, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.encode()
		if err != nil || !bytes.Equal(frame, again) {
			t.Fatalf("encoding the same rows twice gave other bytes (error %v)", err)
		}
		c.roundTrip(t, frame)
		c.viaRecord(t)
	})
}

// TestArrowWritesTheSame: Arrow's own reader takes what the encoder wrote, and its
// writer gives the same bytes for it.
func TestArrowWritesTheSame(t *testing.T) {
	everyCodec(t, func(t *testing.T, c tested) {
		for _, stream := range c.streams(t) {
			r, err := ipc.NewReader(bytes.NewReader(stream))
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			w := ipc.NewWriter(&again, ipc.WithSchema(r.Schema()))
			for r.Next() {
				if err := w.Write(r.Record()); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(r.Err(), w.Close()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stream, again.Bytes()) {
				t.Errorf("Arrow writes %d bytes that differ from the encoder's %d", again.Len(), len(stream))
			}
			r.Release()
		}
	})
}

// golden is the file of a version of a record.
func golden(c tested, version int) string {
	return filepath.Join("testdata", fmt.Sprintf("v%d", version), c.name()+".frame")
}

// TestGolden pins what the newest version writes. Only a new version may add
// files: go test ./schemas -run Golden -write.
func TestGolden(t *testing.T) {
	everyCodec(t, func(t *testing.T, c tested) {
		newest := golden(c, c.version())
		frame, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		if *write {
			if err := errors.Join(os.MkdirAll(filepath.Dir(newest), 0o755), os.WriteFile(newest, frame, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(newest)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(frame, golden) {
			t.Errorf("the encoder writes %d bytes that differ from %s (%d bytes)", len(frame), newest, len(golden))
		}
		c.roundTrip(t, golden)
	})
}

// TestGoldenOfOldVersions reads what every older version wrote: the same rows,
// without what that version did not know.
func TestGoldenOfOldVersions(t *testing.T) {
	older := map[string]func(version int) tested{
		"task": func(v int) tested {
			return examples[Task]{Tasks, each(exampleTasks(), func(t *Task) { t.toVersion(v) })}
		},
		"trajectory": func(v int) tested {
			return examples[Trajectory]{Trajectories, each(exampleTrajectories(), func(t *Trajectory) { t.toVersion(v) })}
		},
		"reward": func(v int) tested {
			return examples[Reward]{Rewards, each(exampleRewards(), func(r *Reward) { r.toVersion(v) })}
		},
		"member": func(v int) tested {
			return examples[Member]{Members, each(exampleMembers(), func(m *Member) { m.Reward.toVersion(v) })}
		},
		"update": func(int) tested {
			rows := exampleUpdates()
			for i := range rows {
				rows[i].CodeVersion = "" // of version 2
			}
			return examples[Update]{Updates, rows}
		},
	}
	everyCodec(t, func(t *testing.T, c tested) {
		for version := 1; version < c.version(); version++ {
			frame, err := os.ReadFile(golden(c, version))
			if err != nil {
				t.Fatal(err)
			}
			older[c.name()](version).roundTrip(t, frame)
		}
	})
}

// each changes a copy of every row.
func each[T any](rows []T, change func(*T)) []T {
	for i := range rows {
		change(&rows[i])
	}
	return rows
}

// toVersion takes out what a version did not know.
func (t *Task) toVersion(v int) {
	t.Environment, t.Parameters = "", "" // of version 3
	if v > 1 {
		return
	}
	*t = Task{
		ID: t.ID, Repo: t.Repo, Split: t.Split, Statement: t.Statement, Image: t.Image, Files: t.Files,
		HiddenTests: t.HiddenTests, TestCommand: t.TestCommand, TestFormat: t.TestFormat,
		FailToPass: t.FailToPass, PassToPass: t.PassToPass, GoldPatch: t.GoldPatch,
		Iteration: t.Iteration, Rollouts: t.Rollouts,
	}
}

func (t *Trajectory) toVersion(v int) {
	t.Task.toVersion(v)
	if v == 1 {
		t.ImageDigest = ""
	}
}

func (r *Reward) toVersion(v int) {
	r.Trajectory.toVersion(v)
	if v == 1 {
		r.Parts = nil
	}
}

func TestSchemaNamesItself(t *testing.T) {
	everyCodec(t, func(t *testing.T, c tested) {
		rec := c.record()
		defer rec.Release()
		meta := rec.Schema().Metadata()
		name, _ := meta.GetValue("millrace.schema")
		version, _ := meta.GetValue("millrace.version")
		if name != c.name() || version != strconv.Itoa(c.version()) {
			t.Errorf("schema metadata says %q version %q", name, version)
		}
	})
}

func TestDecodeRefusesAnotherSchema(t *testing.T) {
	frame, err := DeadLetters.Encode(exampleDeadLetter())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Samples.Decode(frame)
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("decoding a dead letter as a sample: %v", err)
	}
}

func TestEncodeRefusesNoRows(t *testing.T) {
	if _, err := Tasks.Encode(); err == nil {
		t.Error("a frame of no rows was written")
	}
}

// TestEveryBitCounts flips each bit of a frame: the checksum must see it.
func TestEveryBitCounts(t *testing.T) {
	frame, err := PolicyVersions.Encode(examplePolicyVersions()...)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(frame) {
		frame[bit/8] ^= 1 << (bit % 8)
		if _, err := PolicyVersions.Decode(frame); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bit %d of byte %d flipped: error %v", bit%8, bit/8, err)
		}
		frame[bit/8] ^= 1 << (bit % 8)
	}
	for n := range frame {
		if _, err := PolicyVersions.Decode(frame[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut to %d bytes: error %v", n, err)
		}
	}
}

func TestTextBecomesUTF8(t *testing.T) {
	trajectory := exampleTrajectory()
	trajectory.Steps[0].Observation = "caf\xe9 au lait"
	frame, err := Trajectories.Encode(trajectory)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Trajectories.Decode(frame)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[0].Steps[0].Observation; got != "caf\uFFFD au lait" {
		t.Errorf("observation is %q", got)
	}
	if got := rows[0].Patch; got != trajectory.Patch {
		t.Errorf("patch is %q, not its very bytes %q", got, trajectory.Patch)
	}
}

func TestContract(t *testing.T) {
	nan := math.NaN()
	sample := func(change func(*Sample)) error {
		s := exampleSample()
		cloneTokens(&s)
		change(&s)
		return s.Validate()
	}
	trajectory := func(change func(*Trajectory)) error {
		r := exampleTrajectory()
		change(&r)
		return r.Validate()
	}
	task := func(change func(*Task)) error { k := exampleTask(); change(&k); return k.Validate() }
	reward := func(change func(*Reward)) error { r := exampleReward(); change(&r); return r.Validate() }
	update := func(change func(*Update)) error { u := exampleUpdate(); change(&u); return u.Validate() }
	blob := func(change func(*Blob)) error { b := exampleBlobs()[0]; change(&b); return b.Validate() }
	letter := func(change func(*DeadLetter)) error { d := exampleDeadLetter(); change(&d); return d.Validate() }
	for _, c := range []struct {
		field  string
		reason Reason
		err    error
	}{
		{"Tokens", Invalid, sample(func(s *Sample) { s.LossMask = s.LossMask[1:] })},
		{"Tokens[1]", Invalid, sample(func(s *Sample) { s.Tokens[1] = -1 })},
		{"LossMask[0]", Invalid, sample(func(s *Sample) { s.LossMask[0], s.Versions[0] = true, 0 })},
		{"LossMask[1]", Invalid, sample(func(s *Sample) { s.LogProbs[1] = -1 })},
		{"LossMask[1]", Invalid, sample(func(s *Sample) { s.Versions[1] = 0 })},
		{"LogProbs[2]", NotFinite, sample(func(s *Sample) { s.LogProbs[2] = float32(math.Inf(-1)) })},
		{"LogProbs[3]", NotFinite, sample(func(s *Sample) { s.LogProbs[3] = float32(nan) })},
		{"Versions[2]", Invalid, sample(func(s *Sample) { s.Versions[2] = -1 })},
		{"Reward", NotFinite, sample(func(s *Sample) { s.Reward = nan })},
		{"Advantage", NotFinite, sample(func(s *Sample) { s.Advantage = math.Inf(1) })},
		{"Weight", Invalid, sample(func(s *Sample) { s.Weight = 0.5 })},
		{"Excluded", Invalid, sample(func(s *Sample) { s.Weight = 0 })},
		{"Excluded", Invalid, sample(func(s *Sample) { s.Excluded = "steps" })},
		{"Termination", Invalid, sample(func(s *Sample) { s.Termination = "tired" })},
		{"GroupMembers", Invalid, sample(func(s *Sample) { s.GroupMembers = 9 })},
		{"GroupMembers", Invalid, sample(func(s *Sample) { s.GroupWeighing = 9 })},
		{"ID", Invalid, sample(func(s *Sample) { s.ID = "" })},
		{"GroupID", Invalid, sample(func(s *Sample) { s.GroupID = "g\xff" })},
		{"Steps[1]", Invalid, trajectory(func(r *Trajectory) { r.Steps[1].TokenStart = 3 })},
		{"Steps[1]", Invalid, trajectory(func(r *Trajectory) { r.Steps[1].TokenEnd = 8 })},
		{"Failure", Invalid, trajectory(func(r *Trajectory) { r.Failure = "disk full" })},
		{"Failure", Invalid, trajectory(func(r *Trajectory) { r.Termination = Failed })},
		{"Task.ID", Invalid, trajectory(func(r *Trajectory) { r.Task.ID = "" })},
		{"Attempt", Invalid, trajectory(func(r *Trajectory) { r.Attempt = -1 })},
		{"Files[1].Path", Invalid, task(func(k *Task) { k.Files[1].Path = "../etc/passwd" })},
		{"Files[0].Path", Invalid, task(func(k *Task) { k.Files[0].Path = "/go.mod" })},
		{"Files[1].Path", Invalid, task(func(k *Task) { k.Files[1].Path = "go.mod" })},
		{"HiddenTests[0].Path", Invalid, task(func(k *Task) { k.HiddenTests[0].Path = "a\xff" })},
		{"Rollouts", Invalid, task(func(k *Task) { k.Rollouts = -8 })},
		{"TestSeconds", Invalid, task(func(k *Task) { k.TestSeconds = -1 })},
		{"Workdir", Invalid, task(func(k *Task) { k.Workdir = "testbed" })},
		{"Workdir", Invalid, task(func(k *Task) { k.Workdir = "/" })},
		{"Withheld[1]", Invalid, task(func(k *Task) { k.Withheld[1] = "/a/../b" })},
		{"TestFiles[0]", Invalid, task(func(k *Task) { k.TestFiles[0] = "/etc" })},
		{"Env[0]", Invalid, task(func(k *Task) { k.Env[0] = "PATH" })},
		{"Env[0]", Invalid, task(func(k *Task) { k.Env[0] = "=x" })},
		{"Environment", Invalid, task(func(k *Task) { k.Environment, k.Parameters = "frozenlake", "{}" })},
		{"Parameters", Invalid, task(func(k *Task) { k.Parameters = "{}" })},
		{"Parameters", Invalid, Task{ID: "t", Environment: "frozenlake"}.Validate()},
		{"Parameters", Invalid, Task{ID: "t", Environment: "frozenlake", Parameters: "{"}.Validate()},
		{"Parameters", Invalid, Task{ID: "t", Environment: "frozenlake", Parameters: "[]"}.Validate()},
		{"Parts[1].Weight", NotFinite, reward(func(r *Reward) { r.Parts[1].Weight = nan })},
		{"Parts[0].Name", Invalid, reward(func(r *Reward) { r.Parts[0].Name = "" })},
		{"Value", NotFinite, reward(func(r *Reward) { r.Value = nan })},
		{"Value", Invalid, reward(func(r *Reward) { r.Failure = "no disk" })},
		{"Trajectory.Termination", Invalid, reward(func(r *Reward) { r.Trajectory.Termination = "" })},
		{"Failure", Invalid, Reward{Trajectory: tombstone(), Value: 1}.Validate()},
		{"Step", Invalid, update(func(u *Update) { u.Step = 0 })},
		{"SampleIDs[1]", Invalid, update(func(u *Update) { u.SampleIDs[1] = "a" })},
		{"Positions[1].Offset", Invalid, update(func(u *Update) { u.Positions[1].Offset = -1 })},
		{"Metrics[0].Name", Invalid, update(func(u *Update) { u.Metrics[0].Name = "" })},
		{"Reason", Invalid, letter(func(d *DeadLetter) { d.Reason = "bad luck" })},
		{"Stage", Invalid, letter(func(d *DeadLetter) { d.Stage = "" })},
		{"Version", Invalid, PolicyVersion{Version: -1}.Validate()},
		{"Reward.Value", NotFinite, Member{Reward: Reward{Trajectory: tombstone(), Failure: "no namespace", Value: nan}, Excluded: "failed"}.Validate()},
		{"Counts", Invalid, Member{Reward: exampleReward()}.Validate()},
		{"CodeVersion", Invalid, update(func(u *Update) { u.CodeVersion = "c\xff" })},
		{"Topic", Invalid, blob(func(b *Blob) { b.Topic = "" })},
		{"Topic", Invalid, blob(func(b *Blob) { b.Topic = ".." })},
		{"Topic", Invalid, blob(func(b *Blob) { b.Topic = "demo/samples" })},
		{"SHA256", Invalid, blob(func(b *Blob) { b.SHA256 = b.SHA256[1:] })},
		{"SHA256", Invalid, blob(func(b *Blob) { b.SHA256 = strings.ToUpper(b.SHA256) })},
		{"SHA256", Invalid, blob(func(b *Blob) { b.SHA256 = "../" + b.SHA256[3:] })},
		{"Bytes", Invalid, blob(func(b *Blob) { b.Bytes = 0 })},
		{"Problem", Invalid, blob(func(b *Blob) { b.Problem = "p\xff" })},
		{"Name", Invalid, Measurement{Step: 1}.Validate()},
		{"Step", Invalid, Measurement{Name: "actor/lr", Step: -1}.Validate()},
	} {
		invalid, ok := errors.AsType[*InvalidError](c.err)
		if !ok {
			t.Errorf("breaking %s: error %v", c.field, c.err)
			continue
		}
		if invalid.Field != c.field || ReasonOf(c.err) != c.reason {
			t.Errorf("breaking %s gave reason %s: %v", c.field, ReasonOf(c.err), c.err)
		}
	}
}

func cloneTokens(s *Sample) {
	s.Tokens = append([]int32(nil), s.Tokens...)
	s.LossMask = append([]bool(nil), s.LossMask...)
	s.LogProbs = append([]float32(nil), s.LogProbs...)
	s.Versions = append([]int32(nil), s.Versions...)
}

// TestInvalidRowIsNamed: an invalid row among valid ones is told by its index.
func TestInvalidRowIsNamed(t *testing.T) {
	bad := exampleSample()
	bad.Reward = math.NaN()
	_, err := Samples.Encode(exampleSample(), bad)
	want := "encoding sample: invalid sample in row 1 (id \"demo/3/textwrap/flip-operator/5f1a#2.1\"): field Reward is NaN"
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant  %s", err, want)
	}
	rec := Samples.Record(exampleSample(), bad)
	defer rec.Release()
	if _, err := Samples.Rows(rec); ReasonOf(err) != NotFinite {
		t.Errorf("reading an invalid record: %v", err)
	}
}
