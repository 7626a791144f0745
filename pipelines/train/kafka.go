package train

import (
	"errors"
	"fmt"
	"time"

	"millrace/pipelines/stage"
	"millrace/transforms/kafkaio"
)

// KafkaConfig says where the topics live, how they are reached, and how new ones
// are made. It holds no password, so that it can be printed and saved.
type KafkaConfig struct {
	// Brokers is "host:port[,host:port...]"; empty starts the embedded broker,
	// which keeps its data below the run directory.
	Brokers    string `yaml:"brokers"`
	Partitions int    `yaml:"partitions"`
	// Replication is the number of brokers that hold each record; 0 is the
	// broker's default.
	Replication int `yaml:"replication"`
	// Retention is how long trajectories, rewards, samples and dead letters are
	// kept; 0 is for ever.
	Retention time.Duration `yaml:"retention"`

	Blobs BlobsConfig `yaml:"blobs"`

	TLS  kafkaio.TLS  `yaml:"tls"`
	SASL kafkaio.SASL `yaml:"sasl"`
}

// BlobsConfig says where values lie that are too large for a topic.
type BlobsConfig struct {
	// URL is file:///DIR, s3://BUCKET or gs://BUCKET, with a query as gocloud.dev
	// has it and no credentials; empty keeps every value on its topic, 64 MiB at
	// most.
	URL string `yaml:"url"`
	// Above is the size in bytes above which a value is kept there, and, with 64
	// KiB more, the limit of new topics.
	Above int `yaml:"above"`
}

// Topics are the settings of new topics.
func (c KafkaConfig) Topics() stage.TopicSettings {
	return stage.TopicSettings{Partitions: c.Partitions, Replication: c.Replication, Retention: c.Retention}
}

// Validate returns the first thing that is wrong with the settings; it reads no
// file.
func (c KafkaConfig) Validate() error {
	if c.Partitions < 1 {
		return fmt.Errorf("partitions is %d: must be at least 1", c.Partitions)
	}
	if c.Replication < 0 {
		return fmt.Errorf("replication is %d: must not be negative", c.Replication)
	}
	if c.Retention != 0 && c.Retention < time.Millisecond {
		return fmt.Errorf("retention is %s: must be at least 1ms, or 0 to keep records for ever", c.Retention)
	}
	if c.Blobs.URL != "" {
		if err := kafkaio.ValidBlobs(c.Blobs.URL, c.Blobs.Above); err != nil {
			return err
		}
	}
	if c.Brokers == "" {
		if c.TLS != (kafkaio.TLS{}) || c.SASL != (kafkaio.SASL{}) {
			return errors.New("brokers is empty: tls and sasl are for a Kafka of yours, the embedded broker has neither")
		}
		return nil
	}
	if err := kafkaio.ValidBrokers(c.Brokers); err != nil {
		return err
	}
	if err := c.TLS.Validate(); err != nil {
		return err
	}
	return c.SASL.Validate()
}
