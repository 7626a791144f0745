package kafkatest

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// User and Password are known to the Secure port.
const (
	User     = "millrace"
	Password = "a secret that no log may hold"
)

// startTimeout bounds the start of a broker, which takes five seconds on an idle
// machine.
const startTimeout = 3 * time.Minute

//go:embed testdata/*/pom.xml
var poms embed.FS

// Broker is a running broker. Its addresses are "127.0.0.1:port".
type Broker struct {
	Version string
	// Plain speaks in the clear with everybody.
	Plain string
	// Secure is TLS with a user and password: SCRAM-SHA-512, SCRAM-SHA-256 or PLAIN.
	Secure string
	// Mutual is TLS with a client certificate.
	Mutual string
	Certificates
}

// Each runs a test on a broker of each version, as a subtest.
func Each(t *testing.T, test func(t *testing.T, b *Broker)) {
	versions, err := poms.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		t.Run("kafka "+v.Name(), func(t *testing.T) { test(t, start(t, v.Name())) })
	}
}

// Newest starts a broker of the newest version, for a benchmark.
func Newest(b *testing.B) *Broker {
	versions, err := poms.ReadDir("testdata")
	if err != nil {
		b.Fatal(err)
	}
	return start(b, versions[len(versions)-1].Name()) // 3.9.1, 4.1.0: sorted by name
}

// without skips the test, or fails it where a real broker is required.
func without(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
		t.Fatalf("no real Kafka broker: %s", reason)
	}
	t.Skipf("no real Kafka broker: %s", reason)
}

func start(t testing.TB, version string) *Broker {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		without(t, "no java in PATH")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		without(t, err.Error())
	}
	jars := filepath.Join(cache, "millrace", "kafka", version)
	if _, err := os.Stat(jars); err != nil {
		without(t, fmt.Sprintf("Apache Kafka %s is not in %s: run make kafka", version, jars))
	}
	dir := t.TempDir()
	ports := freePorts(t, 4)
	b := &Broker{Version: version, Plain: ports[0], Secure: ports[1], Mutual: ports[2], Certificates: MakeCertificates(t, dir)}
	properties := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(properties, []byte(b.properties(dir, ports[3])), 0o600); err != nil {
		t.Fatal(err)
	}
	// A small, quick JVM: a test's broker lives for seconds.
	jvm := []string{"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(jars, "*")}
	format := append(jvm, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", properties)
	for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
		format = append(format, "--add-scram", fmt.Sprintf(`%s=[name=%s,password="%s"]`, mechanism, User, Password))
	}
	if out, err := exec.Command(java, format...).CombinedOutput(); err != nil {
		t.Fatalf("formatting the storage of Apache Kafka %s: %v\n%s", version, err, out)
	}
	b.run(t, exec.Command(java, append(jvm, "kafka.Kafka", properties)...))
	return b
}

// run starts the broker and returns when it serves; it is killed at the end of
// the test, and with this process however that ends.
func (b *Broker) run(t testing.TB, broker *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer // read after exited
	broker.Stdout, broker.Stderr = &out, &out
	broker.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := broker.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- broker.Wait() }()
	ctx, cancel := context.WithTimeoutCause(t.Context(), startTimeout, errors.New("did not answer in time"))
	defer cancel()
	client := kafka.Client{Addr: kafka.TCP(b.Plain), Transport: &kafka.Transport{MetadataTTL: 200 * time.Millisecond}}
	for {
		response, err := client.Metadata(ctx, &kafka.MetadataRequest{})
		if err == nil && len(response.Brokers) > 0 {
			break
		}
		select {
		case err := <-exited:
			t.Fatalf("Apache Kafka %s: %v\n%s", b.Version, err, &out)
		case <-ctx.Done():
			_ = broker.Process.Kill() // it may be gone
			<-exited
			t.Fatalf("Apache Kafka %s: %v\n%s", b.Version, context.Cause(ctx), &out)
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Cleanup(func() {
		_ = broker.Process.Kill() // it may be gone
		<-exited
		if t.Failed() {
			t.Logf("Apache Kafka %s said:\n%s", b.Version, &out)
		}
	})
}

// freePorts finds free ports below those that the kernel hands out by itself,
// among which another test might get one before the broker binds it.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	var addresses []string
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000)))
		if err != nil {
			continue
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
		if len(addresses) == n {
			return addresses
		}
	}
	t.Fatal("no free ports between 20000 and 32000")
	return nil
}

// properties is the broker's configuration. It has one node, so everything that
// Kafka keeps three times is kept once.
func (b *Broker) properties(dir, controller string) string {
	lines := []string{
		"process.roles=broker,controller",
		"node.id=1",
		"controller.quorum.voters=1@" + controller,
		"controller.listener.names=CONTROLLER",
		fmt.Sprintf("listeners=PLAINTEXT://%s,SASL_SSL://%s,SSL://%s,CONTROLLER://%s", b.Plain, b.Secure, b.Mutual, controller),
		fmt.Sprintf("advertised.listeners=PLAINTEXT://%s,SASL_SSL://%s,SSL://%s", b.Plain, b.Secure, b.Mutual),
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name=PLAINTEXT",
		"log.dirs=" + filepath.Join(dir, "log"),
		"offsets.topic.replication.factor=1",
		"offsets.topic.num.partitions=1",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"transaction.state.log.num.partitions=1",
		"auto.create.topics.enable=false",
		"ssl.keystore.type=PEM",
		"ssl.keystore.location=" + b.server,
		"ssl.truststore.type=PEM",
		"ssl.truststore.location=" + b.CAFile,
		"listener.name.ssl.ssl.client.auth=required",
		"listener.name.sasl_ssl.sasl.enabled.mechanisms=SCRAM-SHA-512,SCRAM-SHA-256,PLAIN",
		"listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
		"listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
		fmt.Sprintf(`listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_%s="%s";`, User, Password),
	}
	return strings.Join(lines, "\n") + "\n"
}
