package embedded

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/transforms/kafkaio"
)

func TestSecondBrokerOnADirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	b, err := StartBroker(BrokerConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	_, err = StartBroker(BrokerConfig{Dir: dir})
	want := fmt.Sprintf("directory %s is in use by process %d: stop it or choose another directory", dir, os.Getpid())
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = StartBroker(BrokerConfig{Dir: dir})
	if err != nil {
		t.Fatalf("after the first was closed: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBusyPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port, dir := l.Addr().(*net.TCPAddr).Port, t.TempDir()
	_, err = StartBroker(BrokerConfig{Dir: dir, Port: port})
	want := fmt.Sprintf("embedded broker: port %d on 127.0.0.1 is in use: choose another, or 0 for a free one", port)
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	b, err := StartBroker(BrokerConfig{Dir: dir})
	if err != nil {
		t.Fatalf("the directory stays locked after a failed start: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryThatCannotBeUsedIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := StartBroker(BrokerConfig{Dir: file})
	if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestLogOutlivesItsBroker(t *testing.T) {
	dir := t.TempDir()
	b, err := StartBroker(BrokerConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := kafkaio.EnsureTopics(t.Context(), b.Addr(), kafkaio.TopicSpec{Name: "kept", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	fill(t, b.Addr(), "kept", 0, 10)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err = StartBroker(BrokerConfig{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if left := remaining(t, b.Addr(), "kept", "g"); strings.Join(left, "") != "0123456789" {
		t.Errorf("kept %v", left)
	}
}
