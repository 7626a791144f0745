package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"millrace/pipelines/train"
	"millrace/runners/embedded"
	"millrace/transforms/kafkaio"
	"millrace/transforms/kafkaio/blobs"
)

// openBrokers makes the brokers of a configuration ready for use: the Kafka that
// it names, with its security, or the embedded broker over the run directory, and
// the store of its blobs.
// The returned function closes what was started here.
func openBrokers(dir string, c train.KafkaConfig) (brokers string, closeBroker func() error, err error) {
	brokers, closeLog, err := startBrokers(dir, c)
	if err != nil || c.Blobs.URL == "" {
		return brokers, closeLog, err
	}
	store, err := blobs.Open(context.Background(), c.Blobs.URL)
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("kafka.blobs.url: %w", err), closeLog())
	}
	kafkaio.Offload(brokers, store, c.Blobs.Above)
	return brokers, func() error { return errors.Join(closeLog(), store.Close()) }, nil
}

func startBrokers(dir string, c train.KafkaConfig) (brokers string, closeBroker func() error, err error) {
	if c.Brokers == "" {
		broker, err := embedded.StartBroker(embedded.BrokerConfig{Dir: filepath.Join(dir, "broker")})
		if err != nil {
			return "", nil, err
		}
		return broker.Addr(), broker.Close, nil
	}
	if err := kafkaio.Connect(c.Brokers, c.TLS, c.SASL); err != nil {
		return "", nil, fmt.Errorf("kafka.%w", err)
	}
	return c.Brokers, func() error { return nil }, nil
}
