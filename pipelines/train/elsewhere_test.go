package train

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/transforms/kafkaio"
)

// TestOtherMachinesAreToldNoConnection: the run's configuration travels as it
// is, but for how its brokers are reached.
func TestOtherMachinesAreToldNoConnection(t *testing.T) {
	c := Default()
	c.Kafka = KafkaConfig{
		Brokers: "kafka-0.example.com:9093", Partitions: 8,
		TLS:  kafkaio.TLS{Enabled: true, KeyFile: "client-key.pem"},
		SASL: kafkaio.SASL{Mechanism: "PLAIN", User: "somebody", PasswordFile: "password.txt"},
	}
	settings, err := settingsElsewhere(c, "policy")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"kafka-0", "somebody", "password.txt", "client-key"} {
		if strings.Contains(string(settings.Text), word) {
			t.Errorf("%q is part of the pipeline", word)
		}
	}
	var e elsewhere
	if err := json.Unmarshal(settings.Text, &e); err != nil {
		t.Fatal(err)
	}
	c.Kafka = KafkaConfig{}
	if d := cmp.Diff(c, e.Config); d != "" {
		t.Error(d)
	}
}
