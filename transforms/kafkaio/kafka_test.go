package kafkaio

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"millrace/transforms/kafkaio/kafkatest"
)

// TestKafka runs the contract on real brokers, in the clear and secured, and
// whatever may be wrong with the security settings.
func TestKafka(t *testing.T) {
	kafkatest.Each(t, func(t *testing.T, b *kafkatest.Broker) {
		t.Run("plaintext", func(t *testing.T) { contract(t, b.Plain) })
		t.Run("refusals", func(t *testing.T) { testRefusals(t, b) })
		t.Run("SASL_SSL", func(t *testing.T) {
			connect(t, b.Secure, TLS{Enabled: true, CAFile: b.CAFile}, login(t, "SCRAM-SHA-512"))
			contract(t, b.Secure, securely(t, b)...)
		})
		for _, c := range []struct {
			name, brokers string
			tls           TLS
			sasl          SASL
		}{
			{"SCRAM-SHA-256", b.Secure, TLS{Enabled: true, CAFile: b.CAFile}, login(t, "SCRAM-SHA-256")},
			{"PLAIN", b.Secure, TLS{Enabled: true, CAFile: b.CAFile}, login(t, "PLAIN")},
			{"client certificate", b.Mutual, TLS{Enabled: true, CAFile: b.CAFile, CertFile: b.CertFile, KeyFile: b.KeyFile}, SASL{}},
			{"server name", b.Mutual, TLS{Enabled: true, CAFile: b.CAFile, CertFile: b.CertFile, KeyFile: b.KeyFile, ServerName: "127.0.0.1"}, SASL{}},
		} {
			t.Run(c.name, func(t *testing.T) {
				connect(t, c.brokers, c.tls, c.sasl)
				testInspection(t, c.brokers)
			})
		}
	})
}

// connect is Connect for the length of a test.
func connect(t *testing.T, brokers string, tls TLS, sasl SASL) {
	t.Helper()
	if err := Connect(brokers, tls, sasl); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		clients.Lock()
		defer clients.Unlock()
		clients.byBrokers[brokers].transport.CloseIdleConnections()
		delete(clients.byBrokers, brokers)
	})
}

// login is the user that kafkatest's brokers know.
func login(t *testing.T, mechanism string) SASL {
	return SASL{Mechanism: mechanism, User: kafkatest.User, PasswordFile: file(t, "password", kafkatest.Password+"\n")}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// securely is how franz-go reaches the secured port.
func securely(t *testing.T, b *kafkatest.Broker) []kgo.Opt {
	t.Helper()
	pem, err := os.ReadFile(b.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return []kgo.Opt{
		kgo.DialTLSConfig(&tls.Config{RootCAs: roots}),
		kgo.SASL(scram.Auth{User: kafkatest.User, Pass: kafkatest.Password}.AsSha512Mechanism()),
	}
}

// testRefusals: whatever is wrong with the settings is said in one line, at
// once, and without the password.
func testRefusals(t *testing.T, b *kafkatest.Broker) {
	trusted := TLS{Enabled: true, CAFile: b.CAFile}
	wrong := login(t, "SCRAM-SHA-512")
	wrong.PasswordFile = file(t, "wrong", "hunter2")
	plain := wrong
	plain.Mechanism = "PLAIN"
	stranger := login(t, "SCRAM-SHA-256")
	stranger.User = "nobody"
	for _, c := range []struct {
		name, brokers string
		tls           TLS
		sasl          SASL
		want          string
	}{
		{"wrong password", b.Secure, trusted, wrong, "the broker refuses this user and password: [58] SASL Authentication Failed"},
		{"wrong password, PLAIN", b.Secure, trusted, plain, "the broker refuses this user and password: [58] SASL Authentication Failed"},
		{"unknown user", b.Secure, trusted, stranger, "the broker refuses this user and password: [58] SASL Authentication Failed"},
		{"wrong CA", b.Secure, TLS{Enabled: true, CAFile: b.OtherCAFile}, login(t, "PLAIN"), "the broker's certificate is not trusted (tls.ca_file, tls.server_name): tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		{"no CA", b.Secure, TLS{Enabled: true}, login(t, "PLAIN"), "certificate signed by unknown authority"},
		{"wrong name", b.Secure, TLS{Enabled: true, CAFile: b.CAFile, ServerName: "kafka.example.com"}, login(t, "PLAIN"), "wanted to match kafka.example.com"},
		{"TLS to a plaintext port", b.Plain, trusted, SASL{}, "the broker hung up at once: this port may not speak TLS (tls.enabled)"},
		{"plaintext to a TLS port", b.Secure, TLS{}, SASL{}, "the broker hung up at once: this port may want TLS or SASL"},
		{"SASL in the clear to a TLS port", b.Secure, TLS{}, login(t, "SCRAM-SHA-512"), "the broker hung up at once: this port may want TLS (tls.enabled)"},
		{"no SASL where it is wanted", b.Secure, trusted, SASL{}, "may not speak TLS (tls.enabled), or want SASL (sasl.mechanism)"},
		{"SASL where there is none", b.Plain, TLS{}, login(t, "SCRAM-SHA-512"), "this port does not take this sasl.mechanism"},
		{"no client certificate", b.Mutual, trusted, SASL{}, "the broker refuses the client's certificate or wants one (tls.cert_file)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			logged := warnings(t)
			connect(t, c.brokers, c.tls, c.sasl)
			err := EnsureTopics(t.Context(), c.brokers, TopicSpec{Name: "x", Partitions: 1})
			if err == nil {
				t.Fatal("no error")
			}
			t.Log(err)
			for _, secret := range []string{kafkatest.Password, "hunter2"} {
				if strings.Contains(err.Error(), secret) || bytes.Contains(logged.Bytes(), []byte(secret)) {
					t.Errorf("the password is shown: %v\n%s", err, logged)
				}
			}
			if !strings.HasPrefix(err.Error(), "kafka "+c.brokers+": listing topics: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if strings.Contains(err.Error(), "gave up") {
				t.Error("it was tried again, although nothing could change")
			}
		})
	}
}
