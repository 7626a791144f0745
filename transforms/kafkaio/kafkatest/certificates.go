package kafkatest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificates are files in PEM.
type Certificates struct {
	// CAFile signs the broker's certificate, which is for 127.0.0.1, and the
	// client's.
	CAFile string
	// CertFile and KeyFile are a client's.
	CertFile, KeyFile string
	// OtherCAFile signs nothing here.
	OtherCAFile string

	server string // the broker's key and certificate in one file
}

// authority is a key with its certificate.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	pem         []byte
}

// MakeCertificates writes them to dir, in place of those that it wrote before.
func MakeCertificates(t testing.TB, dir string) Certificates {
	t.Helper()
	write := func(name string, text ...[]byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Join(text, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca, other := issue(t, "ca", nil), issue(t, "other ca", nil)
	server, client := issue(t, "broker", &ca), issue(t, "client", &ca)
	return Certificates{
		CAFile:      write("ca.pem", ca.pem),
		OtherCAFile: write("other-ca.pem", other.pem),
		CertFile:    write("client.pem", client.pem),
		KeyFile:     write("client.key", keyPEM(t, client)),
		server:      write("broker.pem", keyPEM(t, server), server.pem, ca.pem),
	}
}

// issue makes a key and its certificate, signed by a parent or, for nil, by
// itself to sign others.
func issue(t testing.TB, name string, parent *authority) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	issuer := authority{key, template, nil}
	if parent == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		template.ExtKeyUsage, template.IPAddresses = nil, nil
	} else {
		issuer = *parent
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.certificate, &key.PublicKey, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{key, certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func keyPEM(t testing.TB, a authority) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
