package jobserver

import (
	"context"
	"errors"
	"io"
	"strings"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// ErrCancelled is what Wait returns for a job that was cancelled.
var ErrCancelled = errors.New("job cancelled")

// End is how a job ended: DONE, CANCELLED or FAILED.
type End struct {
	State jobpb.JobState_Enum
	// Report is the last error that the service told of a job that failed, as it
	// was told; it may be empty.
	Report string
}

// Follow returns when the job has ended, or with an error when the service told
// no more before that. heard is called for whatever it tells; the first thing,
// as soon as it answers, is the job's state.
func Follow(service jobpb.JobServiceClient, id string, heard func()) (End, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := service.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	if err != nil {
		return End{}, OneLine(err)
	}
	var end End
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) && end.State == jobpb.JobState_FAILED {
			return end, nil
		}
		if err != nil {
			return End{}, OneLine(err)
		}
		heard()
		if m := response.GetMessageResponse(); m != nil && m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
			end.Report = m.GetMessageText()
		}
		if s := response.GetStateResponse(); s != nil {
			end.State = s.GetState()
		}
		switch {
		case end.State == jobpb.JobState_DONE, end.State == jobpb.JobState_CANCELLED:
			return End{State: end.State}, nil
		case end.State == jobpb.JobState_FAILED && end.Report != "":
			return end, nil // the state may come before the report
		}
	}
}

// OneLine makes one line of an error of Beam's or gRPC's.
func OneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
