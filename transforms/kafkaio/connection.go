package kafkaio

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	saslplain "github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// PasswordEnv is the environment variable that holds the password when no
// password file is named.
const PasswordEnv = "MILLRACE_KAFKA_PASSWORD"

// TLS says how connections to a cluster are encrypted. A broker's certificate
// is always verified.
type TLS struct {
	Enabled bool `yaml:"enabled"`
	// CAFile holds the PEM certificates that sign the brokers'; empty trusts the
	// system's.
	CAFile string `yaml:"ca_file"`
	// CertFile and KeyFile are the client's own certificate and key, in PEM, for
	// brokers that ask for one. They are read again for every connection, so a
	// renewed certificate needs no restart.
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
	// ServerName is the name that every broker's certificate must carry; empty
	// takes the host that is dialled.
	ServerName string `yaml:"server_name"`
}

// SASL says who this process is to a cluster. It names the password's place and
// never holds it, so it may be printed and saved.
type SASL struct {
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty is none.
	Mechanism string `yaml:"mechanism"`
	User      string `yaml:"user"`
	// PasswordFile holds the password; a line break at its end is not part of it.
	// Empty takes the environment variable [PasswordEnv].
	PasswordFile string `yaml:"password_file"`
}

// Validate reports everything that is wrong with the settings themselves. It
// reads no file.
func (t TLS) Validate() error {
	var problems []string
	if !t.Enabled && t != (TLS{}) {
		problems = append(problems, "tls.enabled is false, but other settings of tls are given")
	}
	if t.CertFile != "" && t.KeyFile == "" {
		problems = append(problems, "tls.cert_file is given without tls.key_file")
	}
	if t.KeyFile != "" && t.CertFile == "" {
		problems = append(problems, "tls.key_file is given without tls.cert_file")
	}
	return joined(problems)
}

// Validate reports everything that is wrong with the settings themselves. It
// reads neither file nor environment.
func (s SASL) Validate() error {
	switch s.Mechanism {
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
		if s.User == "" {
			return fmt.Errorf("sasl.mechanism %s needs sasl.user", s.Mechanism)
		}
	case "":
		if s != (SASL{}) {
			return errors.New("sasl.mechanism is empty, but other settings of sasl are given")
		}
	default:
		return fmt.Errorf("sasl.mechanism is %q: want PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism)
	}
	return nil
}

// Connect makes every client of brokers in this process use TLS and SASL as
// given; without it a cluster is spoken to in the clear. It reads the files and
// the password and connects only when used. Call it before anything else that
// names these brokers: earlier clients of them are forgotten.
//
// What a pipeline carries is the broker list alone, so no secret is ever part of
// one; a worker in another process calls Connect for itself.
func Connect(brokers string, t TLS, s SASL) error {
	if err := joined(problems(ValidBrokers(brokers), t.Validate(), s.Validate())); err != nil {
		return err
	}
	transport := newTransport()
	var err error
	if transport.TLS, err = t.config(); err != nil {
		return err
	}
	if transport.SASL, err = s.mechanism(); err != nil {
		return err
	}
	if s.Mechanism == "PLAIN" && !t.Enabled {
		slog.Warn("kafka " + brokers + ": sasl.mechanism PLAIN without tls.enabled sends the password in the clear")
	}
	clients.Lock()
	defer clients.Unlock()
	if old := clients.byBrokers[brokers]; old != nil {
		old.transport.CloseIdleConnections()
	}
	clients.byBrokers[brokers] = newClient(brokers, transport, maxBatchBytes)
	return nil
}

// newTransport is the one place where connections are made. Without TLS and
// SASL it speaks in the clear.
func newTransport() *kafka.Transport {
	return &kafka.Transport{MetadataTTL: metadataTTL, DialTimeout: attemptTimeout / 2, ClientID: "millrace"}
}

// config is nil when TLS is off.
func (t TLS) config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca_file: no certificate in %s: want PEM", t.CAFile)
		}
	}
	if t.CertFile != "" {
		own := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			if err != nil {
				return nil, fmt.Errorf("tls.cert_file %s with tls.key_file %s: %w", t.CertFile, t.KeyFile, err)
			}
			return &pair, nil
		}
		if _, err := own(nil); err != nil {
			return nil, err
		}
		config.GetClientCertificate = own
	}
	return config, nil
}

// mechanism is nil when SASL is off.
func (s SASL) mechanism() (sasl.Mechanism, error) {
	if s.Mechanism == "" {
		return nil, nil
	}
	password, err := s.password()
	if err != nil {
		return nil, err
	}
	algorithm := scram.SHA512
	switch s.Mechanism {
	case "PLAIN":
		return saslplain.Mechanism{Username: s.User, Password: password}, nil
	case "SCRAM-SHA-256":
		algorithm = scram.SHA256
	}
	mechanism, err := scram.Mechanism(algorithm, s.User, password)
	if err != nil {
		// The library's error quotes what it could not prepare, which may be the
		// password.
		return nil, fmt.Errorf("sasl.user %s: user or password holds a character that SCRAM does not allow", s.User)
	}
	return mechanism, nil
}

func (s SASL) password() (string, error) {
	if s.PasswordFile == "" {
		if password := os.Getenv(PasswordEnv); password != "" {
			return password, nil
		}
		return "", fmt.Errorf("sasl.mechanism %s needs a password: name a file by sasl.password_file, or set %s", s.Mechanism, PasswordEnv)
	}
	text, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("sasl.password_file: %w", err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", fmt.Errorf("sasl.password_file: %s is empty", s.PasswordFile)
	}
	return password, nil
}

func problems(errs ...error) []string {
	var out []string
	for _, err := range errs {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	return out
}
