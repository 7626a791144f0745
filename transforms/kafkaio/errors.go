package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/segmentio/kafka-go"
)

var (
	// ErrOffsetOutOfRange means that a position lies outside of the log: records
	// were deleted by retention, or the log is not the one that was read before.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrTopicMissing means that the topic does not exist on this broker.
	ErrTopicMissing = errors.New("topic does not exist")
)

// retryable says whether trying again may help. Deadlines are retryable, since
// each attempt has its own; whether the caller gave up is asked of its context.
func retryable(err error) bool {
	var large kafka.MessageTooLargeError
	var code kafka.Error
	switch {
	case err == nil:
		return false
	case errors.Is(err, ErrOffsetOutOfRange), errors.Is(err, kafka.OffsetOutOfRange):
		return false // the log will not grow backwards
	case errors.As(err, &large), errors.Is(err, kafka.MessageSizeTooLarge):
		return false // it will not shrink
	case errors.Is(err, io.ErrClosedPipe):
		return false // this process closed its writer
	case errors.Is(err, context.DeadlineExceeded):
		return true
	case errors.As(err, &code):
		// Leader moved, not enough replicas, coordinator loading, topic not yet
		// known to this broker: all pass. The rest is the request's own fault.
		return code.Temporary() || code == kafka.BrokerNotAvailable || code == kafka.Unknown
	default:
		// What is left comes from the network: refused, reset, end of file.
		return true
	}
}

// plain turns kafka-go's errors into this package's, so that nobody outside
// needs to know kafka-go, and puts everything on one line.
func plain(err error) error {
	var all kafka.WriteErrors
	if errors.As(err, &all) {
		for _, one := range all {
			if one != nil {
				err = one
				break
			}
		}
	}
	var large kafka.MessageTooLargeError
	switch {
	case errors.As(err, &large):
		return fmt.Errorf("record of %d bytes is larger than the %d that a batch may have", len(large.Message.Key)+len(large.Message.Value), maxBatchBytes)
	case errors.Is(err, kafka.OffsetOutOfRange):
		return ErrOffsetOutOfRange
	case errors.Is(err, kafka.UnknownTopicOrPartition):
		return ErrTopicMissing
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer in time: %w", err)
	case err != nil && strings.ContainsAny(err.Error(), "\r\n"):
		return &oneLine{err}
	}
	return err
}

// oneLine prints its error without line breaks.
type oneLine struct{ err error }

func (e *oneLine) Error() string { return strings.Join(strings.Fields(e.err.Error()), " ") }
func (e *oneLine) Unwrap() error { return e.err }
