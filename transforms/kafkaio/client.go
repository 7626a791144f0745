package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	// maxBatchBytes is the largest batch, hence the largest record, written where
	// there is no store for blobs. The broker's message.max.bytes must allow it
	// (EnsureTopics sets it).
	maxBatchBytes = 64 << 20
	// frameRoom is what a batch may have beyond its records: its head, and what LZ4
	// adds to bytes that do not compress, at most 8 bytes for each 64 KiB.
	frameRoom = 16 << 10
	// batchTimeout is how long a write waits for company in its batch. A lone
	// record pays it in full, so it is short; kafka-go's default is a second.
	batchTimeout = 200 * time.Microsecond
	// metadataTTL bounds how long a moved leader goes unnoticed. kafka-go asks
	// for metadata at a random time below it.
	metadataTTL = 3 * time.Second
)

// client is the process's connection to one cluster: one transport, so that
// topics created by it are known to its writer at once, and one writer, so that
// records from all goroutines share batches. It is safe for concurrent use.
type client struct {
	brokers   string
	transport *kafka.Transport
	kafka     *kafka.Client
	writer    *kafka.Writer
	// batchBytes is the largest batch written, and what topics must take.
	batchBytes int
	// blobs holds values of more than above bytes; nil where all are on topics.
	blobs BlobStore
	above int
	// met says that this cluster has answered once: from then on a connection
	// that ends is an outage, before it is a wrong port or protocol.
	met atomic.Bool
}

// clients are the process's clients by broker list. Beam never tears a DoFn
// down, so clients cannot belong to DoFns; CloseAll ends them.
var clients = struct {
	sync.Mutex
	byBrokers map[string]*client
}{byBrokers: make(map[string]*client)}

// clientFor returns the process's client for "host:port[,host:port...]", the one
// that [Connect] made or one that speaks in the clear. It connects only when used.
func clientFor(brokers string) *client {
	clients.Lock()
	defer clients.Unlock()
	c := clients.byBrokers[brokers]
	if c == nil {
		c = newClient(brokers, newTransport(), maxBatchBytes)
		clients.byBrokers[brokers] = c
	}
	return c
}

func newClient(brokers string, transport *kafka.Transport, batchBytes int) *client {
	addr := kafka.TCP(strings.Split(brokers, ",")...)
	return &client{
		brokers:    brokers,
		transport:  transport,
		kafka:      &kafka.Client{Addr: addr, Transport: transport},
		batchBytes: batchBytes,
		above:      math.MaxInt,
		writer: &kafka.Writer{
			Addr:         addr,
			Transport:    transport,
			Balancer:     kafka.Murmur2Balancer{},
			RequiredAcks: kafka.RequireAll,
			Compression:  kafka.Lz4,
			BatchTimeout: batchTimeout,
			BatchBytes:   int64(batchBytes - frameRoom),
			BatchSize:    1000,
			MaxAttempts:  1, // retry does it, with a bound in time and for the failed records only
			WriteTimeout: attemptTimeout,
			ReadTimeout:  attemptTimeout,
		},
	}
}

// retry is [retry] for requests to this cluster. What this cluster can never
// grant, such as a wrong password, also ends kafka-go's own attempts in the
// background: some brokers lock an account after a few.
func (c *client) retry(ctx context.Context, budget time.Duration, what string, attempt func(context.Context) error) error {
	return retry(ctx, budget, c.brokers, what, func(ctx context.Context) error {
		err := attempt(ctx)
		switch {
		case err == nil:
			c.met.Store(true)
		case !c.met.Load() && hungUp(err):
			err = &misunderstood{err, c.transport.TLS != nil, c.transport.SASL != nil}
		}
		if refused(err) {
			c.transport.CloseIdleConnections()
		}
		return err
	})
}

// CloseAll stops all jobs and closes all clients of this process; main calls it
// last. It waits for writes under way, but not longer than ctx.
func CloseAll(ctx context.Context) error {
	var errs []error
	for _, name := range jobNames() {
		errs = append(errs, Stop(name))
	}
	clients.Lock()
	defer clients.Unlock()
	for brokers, c := range clients.byBrokers {
		closed := make(chan error, 1)
		go func() { closed <- c.writer.Close() }()
		select {
		case err := <-closed:
			errs = append(errs, err)
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("kafka %s: closing the writer: %w", brokers, context.Cause(ctx)))
		}
		c.transport.CloseIdleConnections()
		delete(clients.byBrokers, brokers)
	}
	return errors.Join(errs...)
}

// produce writes outputs and returns when all in-sync replicas have them.
// Records that failed are written again, those that succeeded are not.
func (c *client) produce(ctx context.Context, budget time.Duration, outputs []Output) error {
	outputs, err := c.offload(ctx, budget, outputs)
	if err != nil {
		return err
	}
	messages := make([]kafka.Message, len(outputs))
	for i, o := range outputs {
		messages[i] = kafka.Message{Topic: o.Topic, Key: o.Key, Value: o.Value}
		if o.ID != "" {
			messages[i].Headers = []kafka.Header{{Key: IDHeader, Value: []byte(o.ID)}}
		}
		for _, h := range o.Headers {
			messages[i].Headers = append(messages[i].Headers, kafka.Header{Key: h.Key, Value: h.Value})
		}
	}
	what := fmt.Sprintf("writing %d records", len(outputs))
	if len(outputs) > 0 {
		what = fmt.Sprintf("writing %d records to %s", len(outputs), outputs[0].Topic)
	}
	return c.retry(ctx, budget, what, func(ctx context.Context) error {
		err := c.writer.WriteMessages(ctx, messages...)
		var each kafka.WriteErrors
		if errors.As(err, &each) {
			messages, err = failed(messages, each)
		}
		return err
	})
}

// failed keeps the messages that have an error, and returns the error that
// decides: one that cannot be helped before one that can.
func failed(messages []kafka.Message, each kafka.WriteErrors) ([]kafka.Message, error) {
	var rest []kafka.Message
	var decides error
	for i, err := range each {
		if err == nil {
			continue
		}
		rest = append(rest, messages[i])
		if decides == nil || !retryable(err) {
			decides = err
		}
	}
	return rest, decides
}

// Produce writes outputs and returns when all in-sync replicas have them, or
// with an error after RetryFor. It is for plain code outside of a pipeline.
func Produce(ctx context.Context, brokers string, outputs ...Output) error {
	return clientFor(brokers).produce(ctx, RetryFor, outputs)
}
