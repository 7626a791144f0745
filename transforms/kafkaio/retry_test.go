package kafkaio

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/segmentio/kafka-go"
)

func TestRetryGivesUpAfterTheBudgetInOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, attempts := time.Now(), 0
		err := retry(t.Context(), time.Minute, "10.0.0.1:9092", "writing 1 records to out", func(context.Context) error {
			attempts++
			return syscall.ECONNREFUSED
		})
		want := "kafka 10.0.0.1:9092: writing 1 records to out: gave up after 1m0s: connection refused"
		if err == nil || err.Error() != want || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		// The last pause may begin just before the minute is over.
		if took := time.Since(began); took < time.Minute || took > time.Minute+backoffMax {
			t.Errorf("gave up after %s", took)
		}
		// Pauses double from 50 ms to 2 s: six until there, then a minute of 1 to 2 s.
		if attempts < 30 || attempts > 70 {
			t.Errorf("%d attempts in a minute", attempts)
		}
	})
}

func TestRetryBoundsEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := retry(t.Context(), time.Minute, "b:1", "asking", func(ctx context.Context) error {
			calls++
			if calls == 1 {
				<-ctx.Done() // hangs until its own deadline
				return ctx.Err()
			}
			return nil
		})
		if err != nil || calls != 2 {
			t.Errorf("%d calls, %v: a hung attempt must be given up and tried again", calls, err)
		}
	})
}

func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errStopped) })
		began := time.Now()
		err := retry(ctx, time.Minute, "b:1", "asking", func(context.Context) error { return io.EOF })
		if !errors.Is(err, errStopped) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestRetryable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{kafka.NotLeaderForPartition, true},
		{kafka.UnknownTopicOrPartition, true}, // a broker learns of new topics late
		{kafka.NotEnoughReplicas, true},
		{kafka.GroupLoadInProgress, true},
		{syscall.ECONNREFUSED, true},
		{io.EOF, true},
		{io.ErrUnexpectedEOF, true},
		{context.DeadlineExceeded, true},
		{kafka.OffsetOutOfRange, false},
		{ErrOffsetOutOfRange, false},
		{kafka.MessageSizeTooLarge, false},
		{kafka.MessageTooLargeError{}, false},
		{kafka.TopicAuthorizationFailed, false},
		{kafka.InvalidTopic, false},
		{io.ErrClosedPipe, false},
		{nil, false},
	} {
		if got := retryable(c.err); got != c.want {
			t.Errorf("retryable(%v) = %v", c.err, got)
		}
	}
}

func TestPlainSaysItInOneLine(t *testing.T) {
	two := kafka.WriteErrors{nil, kafka.NotLeaderForPartition}
	for _, c := range []struct {
		in   error
		want string
	}{
		{two, "[6] Not Leader For Partition: the client attempted to send messages to a replica that is not the leader for some partition, the client's metadata are likely out of date"},
		{kafka.OffsetOutOfRange, "offset out of range"},
		{kafka.UnknownTopicOrPartition, "topic does not exist"},
		{kafka.MessageTooLargeError{Message: kafka.Message{Value: make([]byte, 9)}}, "record of 9 bytes is larger than a batch may be: a blob store takes such values (kafka.blobs.url)"},
		{errors.New("a\n\tb"), "a b"},
	} {
		if got := plain(c.in).Error(); got != c.want || strings.Contains(got, "\n") {
			t.Errorf("plain(%v) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFailedKeepsWhatIsNotWritten(t *testing.T) {
	messages := []kafka.Message{{Value: []byte("a")}, {Value: []byte("b")}, {Value: []byte("c")}}
	rest, err := failed(messages, kafka.WriteErrors{nil, kafka.NotLeaderForPartition, kafka.MessageSizeTooLarge})
	if len(rest) != 2 || string(rest[0].Value) != "b" || string(rest[1].Value) != "c" {
		t.Errorf("left to write: %v", rest)
	}
	if !errors.Is(err, kafka.MessageSizeTooLarge) {
		t.Errorf("%v decides, though another error can never be helped", err)
	}
}
