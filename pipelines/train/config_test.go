package train

import (
	"strings"
	"testing"
	"time"

	"millrace/transforms/kafkaio"
)

// TestSettings: what is wrong with them is said before anything is opened.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string // "" is valid
	}{
		{"defaults", func(*Config) {}, ""},
		{"a secured Kafka", func(c *Config) {
			c.Kafka.Brokers, c.Kafka.Replication, c.Kafka.Retention = "a:9093,b:9093", 3, 30*24*time.Hour
			c.Kafka.TLS = kafkaio.TLS{Enabled: true, CAFile: "ca.pem"}
			c.Kafka.SASL = kafkaio.SASL{Mechanism: "SCRAM-SHA-512", User: "millrace"}
		}, ""},
		{"no partitions", func(c *Config) { c.Kafka.Partitions = 0 }, "kafka.partitions is 0: must be at least 1"},
		{"negative replication", func(c *Config) { c.Kafka.Replication = -1 }, "kafka.replication is -1: must not be negative"},
		{"negative retention", func(c *Config) { c.Kafka.Retention = -time.Hour }, "kafka.retention is -1h0m0s: must be at least 1ms, or 0 to keep records for ever"},
		{"brokers without port", func(c *Config) { c.Kafka.Brokers = "kafka" }, `kafka.brokers "kafka": want host:port[,host:port...]`},
		{"security of the embedded broker", func(c *Config) { c.Kafka.TLS.Enabled = true }, "kafka.brokers is empty: tls and sasl are for a Kafka of yours"},
		{"key without certificate", func(c *Config) {
			c.Kafka.Brokers, c.Kafka.TLS = "a:1", kafkaio.TLS{Enabled: true, KeyFile: "k"}
		}, "kafka.tls.key_file is given without tls.cert_file"},
		{"unknown mechanism", func(c *Config) {
			c.Kafka.Brokers, c.Kafka.SASL.Mechanism = "a:1", "OAUTHBEARER"
		}, `kafka.sasl.mechanism is "OAUTHBEARER"`},
		{"no optimizer step", func(c *Config) { c.Learn.Minibatches = 0 }, "learn.minibatches is 0: must be at least 1"},
		{"negative prefill", func(c *Config) { c.Policy.Engine.PrefillTokens = -1 }, "policy: engine.prefill_tokens is -1"},
		{"a name that no topic may have", func(c *Config) { c.Name = "a,b" }, `name is "a,b": it prefixes topics`},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := Default()
			c.edit(&config)
			err := config.Validate()
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
