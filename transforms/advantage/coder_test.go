package advantage

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

func refused(t *testing.T, err error) {
	t.Helper()
	if _, invalid := errors.AsType[*schemas.InvalidError](err); !invalid && !errors.Is(err, schemas.ErrCorrupt) {
		t.Fatalf("refused without a reason: %v", err)
	}
}

func aClosed(t testing.TB) Closed {
	t.Helper()
	samples, _ := Assign(Config{Estimator: "centered"}, []schemas.Member{weighing("g", 0, 2, 1), failed("g", 1, 2)})
	letter := letterOf(weighing("g", 1, 2, 0), schemas.Late, "late")
	return Closed{samples, []schemas.DeadLetter{letter}, []schemas.Position{{Topic: "rewarded", Partition: 3, Offset: 9}}}
}

func TestClosedRoundTrip(t *testing.T) {
	full := aClosed(t)
	for name, c := range map[string]Closed{
		"full":    full,
		"samples": {Samples: full.Samples, Sources: full.Sources},
		"letters": {DeadLetters: full.DeadLetters, Sources: full.Sources},
		"repeat":  {Sources: full.Sources},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := encodeClosed(c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decodeClosed(b)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// FuzzDecodeClosed: no input panics; what is accepted encodes to bytes that
// decode to the same; what is refused says why.
func FuzzDecodeClosed(f *testing.F) {
	b, err := encodeClosed(aClosed(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte("\x02{}\x00\x00"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeClosed(b)
		if err != nil {
			refused(t, err)
			return
		}
		again, err := encodeClosed(c)
		if err != nil {
			t.Fatal(err)
		}
		if c2, err := decodeClosed(again); err != nil {
			t.Fatal(err)
		} else if again2, _ := encodeClosed(c2); !bytes.Equal(again, again2) {
			t.Fatal("encoding is not stable")
		}
	})
}

// FuzzDecodeDraft: as FuzzDecodeClosed, and the digest survives.
func FuzzDecodeDraft(f *testing.F) {
	for _, m := range []schemas.Member{weighing("g", 0, 2, 1), excluded("g", 1, 2, 1, true), failed("g", 1, 2)} {
		d, err := newDraft(m)
		if err != nil {
			f.Fatal(err)
		}
		b, err := d.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte("\x02{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := decodeDraft(b)
		if err != nil {
			refused(t, err)
			return
		}
		digest, err := d.digest()
		if err != nil {
			t.Fatal(err)
		}
		again, err := d.encode()
		if err != nil {
			t.Fatal(err)
		}
		d2, err := decodeDraft(again)
		if err != nil {
			t.Fatal(err)
		}
		if digest2, _ := d2.digest(); digest != digest2 {
			t.Fatal("the digest changed")
		}
	})
}

// The digest tells members apart that make different samples, and only those.
func TestDigest(t *testing.T) {
	digest := func(change func(*schemas.Member)) uint64 {
		m := weighing("g", 0, 2, 1)
		change(&m)
		d, err := newDraft(m)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := d.digest()
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	same := digest(func(*schemas.Member) {})
	for name, change := range map[string]func(*schemas.Member){
		"scoring time": func(m *schemas.Member) { m.Reward.Duration = 5 },
		"cached":       func(m *schemas.Member) { m.Reward.Cached = true },
		"source":       func(m *schemas.Member) { m.Source.Offset++ },
		"finish time":  func(m *schemas.Member) { m.Reward.Trajectory.Finished = 9 },
	} {
		if digest(change) != same {
			t.Errorf("another %s gives another digest, so a redelivery would be a conflict", name)
		}
	}
	for name, change := range map[string]func(*schemas.Member){
		"reward":      func(m *schemas.Member) { m.Reward.Value = 0 },
		"token":       func(m *schemas.Member) { m.Reward.Trajectory.Tokens[3] = 9 },
		"log-prob":    func(m *schemas.Member) { m.Reward.Trajectory.LogProbs[3] = -2 },
		"version":     func(m *schemas.Member) { m.Reward.Trajectory.Versions[3] = 3 },
		"id":          func(m *schemas.Member) { m.Reward.Trajectory.ID = "g#0.1" },
		"exclusion":   func(m *schemas.Member) { m.Excluded, m.Counts = "steps", false },
		"termination": func(m *schemas.Member) { m.Reward.Trajectory.Termination = schemas.Malformed },
	} {
		if digest(change) == same {
			t.Errorf("another %s gives the same digest, so a conflict would be dropped as a repeat", name)
		}
	}
}
