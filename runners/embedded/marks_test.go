package embedded

import (
	"testing"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/testing/protocmp"
)

// wire is a stream that hands what it is given to sent.
type wire struct {
	grpc.ClientStream
	sent chan any
}

func (w wire) SendMsg(message any) error {
	w.sent <- message
	return nil
}

// TestMarksFollowTheResponse: what ends a bundle's output leaves after the
// bundle's response, in one message, and everything else at once.
func TestMarksFollowTheResponse(t *testing.T) {
	m := withMarks(t.Context()).Value(marksKey{}).(*marks)
	data := &markedStream{ClientStream: wire{sent: make(chan any, 10)}, marks: m}
	control := &markedStream{ClientStream: wire{sent: make(chan any, 10)}, marks: m}
	next := func(s *markedStream) any { return <-s.ClientStream.(wire).sent }
	send := func(s *markedStream, message any) {
		t.Helper()
		if err := s.SendMsg(message); err != nil {
			t.Fatal(err)
		}
	}
	element := func(instruction, transform string, last bool) *fnpb.Elements {
		return &fnpb.Elements{Data: []*fnpb.Elements_Data{{InstructionId: instruction, TransformId: transform, IsLast: last}}}
	}
	timer := &fnpb.Elements{Timers: []*fnpb.Elements_Timers{{InstructionId: "a", TransformId: "3", IsLast: true}}}

	for _, e := range []*fnpb.Elements{
		element("a", "1", false), element("a", "1", true), element("b", "1", true), element("a", "2", true), timer, element("b", "2", false),
	} {
		send(data, e)
	}
	for _, want := range []*fnpb.Elements{element("a", "1", false), element("b", "2", false)} {
		if got := next(data); cmp.Diff(want, got, protocmp.Transform()) != "" {
			t.Errorf("sent %v before any response, want %v", got, want)
		}
	}
	for _, c := range []struct {
		instruction string
		want        *fnpb.Elements
	}{
		{"progress of a", nil}, // an instruction of its own, which ends no bundle
		{"a", &fnpb.Elements{Data: append(element("a", "1", true).Data, element("a", "2", true).Data...), Timers: timer.Timers}},
		{"b", element("b", "1", true)},
	} {
		response := &fnpb.InstructionResponse{InstructionId: c.instruction}
		send(control, response)
		if got := next(control); got != any(response) {
			t.Errorf("response of %s became %v", c.instruction, got)
		}
		if c.want == nil {
			continue
		}
		if diff := cmp.Diff(c.want, next(data), protocmp.Transform()); diff != "" {
			t.Errorf("marks of %s: %s", c.instruction, diff)
		}
	}
	if len(m.kept) != 0 {
		t.Errorf("%d bundles are kept for ever", len(m.kept))
	}
	if more := len(data.ClientStream.(wire).sent); more != 0 {
		t.Errorf("%d more messages", more)
	}
}
