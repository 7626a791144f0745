package local

import (
	"fmt"
	"path/filepath"

	"millrace/pipelines/train"
	"millrace/runners/embedded"
	"millrace/transforms/kafkaio"
)

// openBrokers makes the brokers of a configuration ready for use: the Kafka that
// it names, with its security, or the embedded broker over the run directory.
// The returned function closes what was started here.
func openBrokers(dir string, c train.KafkaConfig) (brokers string, closeBroker func() error, err error) {
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
