package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"millrace/transforms/kafkaio"
	"millrace/transforms/kafkaio/kafkatest"
)

// TestKafka runs whole pipelines on real brokers over TLS with a user and
// password, of which the pipelines know nothing.
func TestKafka(t *testing.T) {
	kafkatest.Each(t, func(t *testing.T, b *kafkatest.Broker) {
		password := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(password, []byte(kafkatest.Password), 0o600); err != nil {
			t.Fatal(err)
		}
		user := kafkaio.SASL{Mechanism: "SCRAM-SHA-512", User: kafkatest.User, PasswordFile: password}
		if err := kafkaio.Connect(b.Secure, kafkaio.TLS{Enabled: true, CAFile: b.CAFile}, user); err != nil {
			t.Fatal(err)
		}
		onKafka = b.Secure
		defer func() { onKafka = "" }()
		for _, pipeline := range []struct {
			name string
			test func(*testing.T)
		}{
			{"asynchronous stage", TestAsyncEndToEnd},
			{"read write commit", TestReadWriteCommit},
			{"bounded read", TestBoundedReadEndsByItself},
			{"side by side", TestJobsRunSideBySide},
			{"cancel", TestCancelReachesWork},
			{"missing topic", TestTopicThatIsMissingFailsTheJob},
		} {
			t.Run(pipeline.name, pipeline.test)
		}
	})
}
