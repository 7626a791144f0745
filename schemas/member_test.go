package schemas

import (
	"bytes"
	"encoding/binary"
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
			want := []Member{m, aMember()}
			b, err := EncodeMembers(want...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeMembers(b)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("round trip changed the members (-want +got):\n%s", d)
			}
			if _, err := decodeMember(b); !errors.Is(err, ErrCorrupt) {
				t.Errorf("two members as one: error %v", err)
			}
			if b, err = encodeMember(m); err != nil {
				t.Fatal(err)
			}
			if one, err := decodeMember(b); err != nil {
				t.Error(err)
			} else if d := cmp.Diff(m, one); d != "" {
				t.Errorf("round trip changed the member (-want +got):\n%s", d)
			}
		})
	}
}

// FuzzDecodeMembers: no input panics; whatever is accepted encodes and decodes
// to itself; whatever is refused says that it is corrupt or invalid.
func FuzzDecodeMembers(f *testing.F) {
	for _, members := range [][]Member{{aMember()}, {aMember(), aMember(), aMember()}} {
		b, err := EncodeMembers(members...)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte("\x02[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		members, err := DecodeMembers(b)
		if err != nil {
			_, invalid := errors.AsType[*InvalidError](err)
			if !invalid && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		again, err := EncodeMembers(members...)
		if err != nil {
			t.Fatalf("encoding what was decoded: %v", err)
		}
		if members, err = DecodeMembers(again); err != nil {
			t.Fatalf("decoding again: %v", err)
		} else if again2, _ := EncodeMembers(members...); !bytes.Equal(again, again2) {
			t.Fatal("encoding is not stable")
		}
	})
}

func TestHeadsAreOfTheirMembers(t *testing.T) {
	one, err := EncodeMembers(aMember())
	if err != nil {
		t.Fatal(err)
	}
	_, k := binary.Uvarint(one)
	length, _ := binary.Uvarint(one)
	head, frame := one[k:k+int(length)], one[k+int(length):]
	for _, heads := range []string{"[]", "[" + string(head[1:len(head)-1]) + "," + string(head[1:])} {
		forged := append(binary.AppendUvarint(nil, uint64(len(heads))), heads...)
		if _, err := DecodeMembers(append(forged, frame...)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("heads %s of one member: error %v", heads, err)
		}
	}
}
