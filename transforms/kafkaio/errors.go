package kafkaio

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

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
	case refused(err):
		return false // nobody changes a password or a certificate meanwhile
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

// refused says that the two sides cannot come together with these settings:
// user, password, mechanism, certificates or protocol are wrong.
func refused(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var stranger *misunderstood
	switch {
	case errors.Is(err, kafka.SASLAuthenticationFailed), errors.Is(err, kafka.UnsupportedSASLMechanism), errors.Is(err, kafka.IllegalSASLState):
		return true
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &stranger), alert(err):
		return true
	}
	return false
}

// alert says that the other side ended a TLS connection with a reason, an error
// for which crypto/tls has no type.
func alert(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "remote error"
}

// hungUp says that the other side ended the connection without an answer.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// misunderstood is the error of a cluster that hung up at the first words: Kafka
// does so when it is spoken to in another protocol than its port is for.
type misunderstood struct {
	err       error
	tls, sasl bool // were spoken
}

func (e *misunderstood) Error() string {
	guess := "may want TLS or SASL (tls.enabled, sasl.mechanism)"
	switch {
	case e.tls && e.sasl:
		guess = "may not speak TLS (tls.enabled), or refuse this user and password"
	case e.tls:
		guess = "may not speak TLS (tls.enabled), or want SASL (sasl.mechanism)"
	case e.sasl:
		guess = "may want TLS (tls.enabled), or refuse this user and password"
	}
	return fmt.Sprintf("the broker hung up at once: this port %s: %v", guess, plain(e.err))
}

func (e *misunderstood) Unwrap() error { return e.err }

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
	if err != nil && strings.HasPrefix(err.Error(), "kafka.(*Client).") {
		err = errors.Unwrap(err) // the caller says what was attempted
	}
	var large kafka.MessageTooLargeError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &large):
		return fmt.Errorf("record of %d bytes is larger than a batch may be: a blob store takes such values (kafka.blobs.url)", len(large.Message.Key)+len(large.Message.Value))
	case errors.Is(err, kafka.OffsetOutOfRange):
		return ErrOffsetOutOfRange
	case errors.Is(err, kafka.UnknownTopicOrPartition):
		return ErrTopicMissing
	case errors.Is(err, kafka.SASLAuthenticationFailed):
		return fmt.Errorf("the broker refuses this user and password: %w", err)
	case errors.Is(err, kafka.UnsupportedSASLMechanism), errors.Is(err, kafka.IllegalSASLState):
		return fmt.Errorf("this port does not take this sasl.mechanism: %w", err)
	case errors.As(err, &certificate):
		return fmt.Errorf("the broker's certificate is not trusted (tls.ca_file, tls.server_name): %w", err)
	case alert(err):
		return fmt.Errorf("the broker refuses the client's certificate or wants one (tls.cert_file): %w", err)
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
