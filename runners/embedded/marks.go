package embedded

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// markDelay is how long after a bundle's response the marks follow. Both go
// through goroutines of Prism that run when there is a free core, in any order.
const markDelay = time.Millisecond

// marks keeps back the marks that end a bundle's output until Prism has the
// bundle's response. From the last mark to the response Prism spins: its loop
// selects on a closed channel. Runner, worker and learner share their cores here,
// so the response comes late, up to the 10 ms after which Go's scheduler takes the
// core from who spins; with one core for a run that was a fifth of it. In this
// order Prism sleeps: it takes the response whenever it comes, and waits for the
// marks.
//
// One belongs to one worker, whose bundles have unique ids.
type marks struct {
	mu   sync.Mutex
	kept map[string]*kept // by instruction
}

// kept is what the stream of a worker's data has not sent yet.
type kept struct {
	stream   *markedStream
	elements *fnpb.Elements
}

type marksKey struct{}

// withMarks makes the connections that are opened under the context keep marks
// back.
func withMarks(ctx context.Context) context.Context {
	return context.WithValue(ctx, marksKey{}, &marks{kept: make(map[string]*kept)})
}

// dialMarked takes the place of Beam's dialer, which takes no options, for the workers of
// this package.
func dialMarked(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
	m, ok := ctx.Value(marksKey{}).(*marks)
	if !ok {
		return grpcx.DefaultDial(ctx, endpoint, timeout)
	}
	conn, err := grpc.NewClient(endpoint,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithStreamInterceptor(m.open))
	if err != nil {
		return nil, fmt.Errorf("connecting a worker to %s: %w", endpoint, err)
	}
	return conn, nil
}

func init() { grpcx.Dial = dialMarked }

// open is the interceptor of a connection: it opens a stream whose marks are kept back.
func (m *marks) open(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, options...)
	if err != nil {
		return nil, err
	}
	return &markedStream{ClientStream: stream, marks: m}, nil
}

// markedStream is a stream of a worker: of its data, which marks end, or of its
// responses, which set them free.
type markedStream struct {
	grpc.ClientStream
	marks   *marks
	sending sync.Mutex // gRPC allows one sender a stream; freed marks come from another
}

// SendMsg keeps a mark, which the SDK sends by itself, and sends everything else.
func (s *markedStream) SendMsg(message any) error {
	if m, ok := message.(*fnpb.Elements); ok && s.marks.keep(s, m) {
		return nil
	}
	if err := s.send(message); err != nil {
		return err
	}
	if response, ok := message.(*fnpb.InstructionResponse); ok {
		s.marks.free(response.GetInstructionId())
	}
	return nil
}

func (s *markedStream) send(message any) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.ClientStream.SendMsg(message)
}

// keep takes a message that ends an output of a bundle, and refuses others.
func (m *marks) keep(stream *markedStream, message *fnpb.Elements) bool {
	var instruction string
	for _, d := range message.GetData() {
		if d.GetIsLast() {
			instruction = d.GetInstructionId()
		}
	}
	for _, t := range message.GetTimers() {
		if t.GetIsLast() {
			instruction = t.GetInstructionId()
		}
	}
	if instruction == "" {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.kept[instruction]
	if k == nil {
		k = &kept{stream: stream, elements: &fnpb.Elements{}}
		m.kept[instruction] = k
	}
	k.elements.Data = append(k.elements.Data, message.GetData()...)
	k.elements.Timers = append(k.elements.Timers, message.GetTimers()...)
	return true
}

// free sends what was kept of a bundle, as one message, when Prism has had time to
// take the response.
func (m *marks) free(instruction string) {
	m.mu.Lock()
	k := m.kept[instruction]
	delete(m.kept, instruction)
	m.mu.Unlock()
	if k != nil {
		// A stream that takes nothing any more has ended, and with it the worker.
		time.AfterFunc(markDelay, func() { _ = k.stream.send(k.elements) })
	}
}
