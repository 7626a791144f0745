package schemas

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func aMember() Member {
	return Member{
		Reward: Reward{
			Trajectory: Trajectory{
				ID: "r/3/t#1.0", GroupID: "r/3/t", Run: "r", Iteration: 3, Rollout: 1,
				Task:        Task{ID: "t", Iteration: 3, Rollouts: 4, TestCommand: "go test -json ./...", TestFormat: "go-test-json", FailToPass: []string{"TestX"}},
				Tokens:      []int32{5, 6, 7},
				LossMask:    []bool{false, true, true},
				LogProbs:    []float32{0, -0.5, -1.25},
				Versions:    []int32{-1, 2, 2},
				Termination: Finished,
			},
			Value:  1,
			Passed: []string{"TestX"},
		},
		Source:   Position{Topic: "rewarded", Partition: 2, Offset: 77},
		Excluded: "steps",
		Counts:   true,
	}
}

func TestMemberRoundTrip(t *testing.T) {
	for name, change := range map[string]func(*Member){
		"excluded that counts": func(*Member) {},
		"weighing":             func(m *Member) { m.Excluded = "" },
		"out":                  func(m *Member) { m.Counts = false },
		"zero position":        func(m *Member) { m.Source = Position{} },
	} {
		t.Run(name, func(t *testing.T) {
			m := aMember()
			change(&m)
			b, err := EncodeMember(m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeMember(b)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(m, got); d != "" {
				t.Errorf("round trip changed the member (-want +got):\n%s", d)
			}
		})
	}
}

// FuzzDecodeMember: no input panics; whatever is accepted encodes and decodes
// to itself; whatever is refused says that it is corrupt or invalid.
func FuzzDecodeMember(f *testing.F) {
	b, err := EncodeMember(aMember())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte("\x02{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMember(b)
		if err != nil {
			_, invalid := errors.AsType[*InvalidError](err)
			if !invalid && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		again, err := EncodeMember(m)
		if err != nil {
			t.Fatalf("encoding what was decoded: %v", err)
		}
		if m2, err := DecodeMember(again); err != nil {
			t.Fatalf("decoding again: %v", err)
		} else if again2, _ := EncodeMember(m2); !bytes.Equal(again, again2) {
			t.Fatal("encoding is not stable")
		}
	})
}
