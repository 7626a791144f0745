package kafkaio

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/transforms/kafkaio/kafkatest"
)

// TestConnectRefuses: what can be known without a broker is said before any
// connection, in one line that names the setting.
func TestConnectRefuses(t *testing.T) {
	certificates := kafkatest.MakeCertificates(t, t.TempDir())
	garbage := file(t, "garbage.pem", "not a certificate\n")
	scram := SASL{Mechanism: "SCRAM-SHA-512", User: "me"}
	for _, c := range []struct {
		name string
		tls  TLS
		sasl SASL
		want string
	}{
		{"no such CA file", TLS{Enabled: true, CAFile: "none.pem"}, SASL{}, "tls.ca_file: open none.pem: no such file or directory"},
		{"no certificate in it", TLS{Enabled: true, CAFile: garbage}, SASL{}, "tls.ca_file: no certificate in " + garbage + ": want PEM"},
		{"key without certificate", TLS{Enabled: true, KeyFile: "key.pem"}, SASL{}, "tls.key_file is given without tls.cert_file"},
		{"certificate without key", TLS{Enabled: true, CertFile: "cert.pem"}, SASL{}, "tls.cert_file is given without tls.key_file"},
		{"no such key file", TLS{Enabled: true, CertFile: certificates.CertFile, KeyFile: "none.key"}, SASL{},
			"tls.cert_file " + certificates.CertFile + " with tls.key_file none.key: open none.key: no such file or directory"},
		{"key of another", TLS{Enabled: true, CertFile: certificates.CAFile, KeyFile: certificates.KeyFile}, SASL{}, "private key does not match public key"},
		{"TLS is off", TLS{CAFile: certificates.CAFile}, SASL{}, "tls.enabled is false, but other settings of tls are given"},
		{"unknown mechanism", TLS{}, SASL{Mechanism: "GSSAPI", User: "me"}, `sasl.mechanism is "GSSAPI": want PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512`},
		{"no mechanism", TLS{}, SASL{User: "me"}, "sasl.mechanism is empty, but other settings of sasl are given"},
		{"no user", TLS{}, SASL{Mechanism: "PLAIN"}, "sasl.mechanism PLAIN needs sasl.user"},
		{"no password", TLS{}, scram, "sasl.mechanism SCRAM-SHA-512 needs a password: name a file by sasl.password_file, or set MILLRACE_KAFKA_PASSWORD"},
		{"no such password file", TLS{}, SASL{scram.Mechanism, scram.User, "none.txt"}, "sasl.password_file: open none.txt: no such file or directory"},
		{"empty password file", TLS{}, SASL{scram.Mechanism, scram.User, file(t, "empty", "\n")}, "empty is empty"},
		{"a password that SCRAM cannot carry", TLS{}, SASL{scram.Mechanism, scram.User, file(t, "odd", "hunter\u0007two")}, "sasl.user me: user or password holds a character that SCRAM does not allow"},
		{"several at once", TLS{KeyFile: "key.pem"}, SASL{Mechanism: "PLAIN"}, "; sasl.mechanism PLAIN needs sasl.user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(PasswordEnv, "")
			err := Connect("b:9092", c.tls, c.sasl)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestPasswordFromTheEnvironment also shows that a file is preferred to it.
func TestPasswordFromTheEnvironment(t *testing.T) {
	cluster := startFake(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "me", "right"))
	brokers := cluster.ListenAddrs()[0]
	user := SASL{Mechanism: "SCRAM-SHA-256", User: "me"}
	t.Setenv(PasswordEnv, "right")
	connect(t, brokers, TLS{}, user)
	newTopic(t, brokers, 1)

	user.PasswordFile = file(t, "password", "wrong")
	if err := Connect(brokers, TLS{}, user); err != nil {
		t.Fatal(err)
	}
	err := EnsureTopics(t.Context(), brokers, TopicSpec{Name: "x", Partitions: 1})
	if err == nil || !strings.Contains(err.Error(), "this user and password") {
		t.Errorf("a wrong password in the file: %v", err)
	}
}

// TestRenewedCertificate: a client certificate is read again for every
// connection.
func TestRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	files := kafkatest.MakeCertificates(t, dir)
	config, err := TLS{Enabled: true, CertFile: files.CertFile, KeyFile: files.KeyFile}.config()
	if err != nil {
		t.Fatal(err)
	}
	before, err := config.GetClientCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	kafkatest.MakeCertificates(t, dir)
	after, err := config.GetClientCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(before.Certificate[0]) == string(after.Certificate[0]) {
		t.Error("the old certificate is still sent")
	}
}

// TestPipelinesCarryNoSecret: a runner is given the plan and must not be given
// the password with it.
func TestPipelinesCarryNoSecret(t *testing.T) {
	path := file(t, "password", kafkatest.Password)
	connect(t, "b:9092", TLS{}, SASL{Mechanism: "PLAIN", User: kafkatest.User, PasswordFile: path})
	t.Cleanup(RegisterWork(t.Name(), nil))
	t.Cleanup(func() { _ = Stop(t.Name()) })
	p, s := beam.NewPipelineWithRoot()
	source := Source{Job: t.Name(), Brokers: "b:9092", Topic: "in", Group: "g"}
	Async(s, AsyncConfig{Source: source, Work: t.Name()})
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := graphx.Marshal(edges, &graphx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{kafkatest.Password, filepath.Base(path), kafkatest.User + `"`} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the plan holds %q", secret)
		}
	}
}
