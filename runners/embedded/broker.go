package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

// messageMaxBytes is the largest batch the broker takes: kafkaio's own limit.
const messageMaxBytes = 64 << 20

// BrokerConfig are the settings of the embedded broker.
type BrokerConfig struct {
	// Dir is where the log is kept; empty keeps it in memory.
	Dir string
	// Port is the loopback port; 0 takes a free one.
	Port int
}

// Broker is a Kafka-protocol broker in this process, on the loopback interface
// only, without authentication.
type Broker struct {
	cluster *kfake.Cluster
	lock    *Lock
}

// StartBroker starts a broker over the log in cfg.Dir, which may be new, or left
// by an earlier process whether it closed its broker or was killed. A second
// broker on one directory is refused.
func StartBroker(cfg BrokerConfig) (*Broker, error) {
	options := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ClusterID("millrace"),
		kfake.WithLogger(brokerLog{}),
		kfake.BrokerConfigs(map[string]string{"message.max.bytes": strconv.Itoa(messageMaxBytes)}),
	}
	if cfg.Port != 0 {
		options = append(options, kfake.Ports(cfg.Port))
	}
	b := &Broker{}
	if cfg.Dir != "" {
		lock, err := LockDir(cfg.Dir)
		if err != nil {
			return nil, err
		}
		b.lock = lock
		// The log has a directory to itself: kfake takes every entry for its own.
		options = append(options, kfake.DataDir(filepath.Join(cfg.Dir, "log")))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		if b.lock != nil {
			err = errors.Join(err, b.lock.Unlock())
		}
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("embedded broker: port %d on 127.0.0.1 is in use: choose another, or 0 for a free one", cfg.Port)
		}
		return nil, fmt.Errorf("embedded broker over %q: %w", cfg.Dir, err)
	}
	b.cluster = cluster
	return b, nil
}

// Addr is "127.0.0.1:port".
func (b *Broker) Addr() string { return b.cluster.ListenAddrs()[0] }

// Close writes the rest of the state to disk and stops. Without it the next
// start replays the log.
func (b *Broker) Close() error {
	b.cluster.Close()
	if b.lock == nil {
		return nil
	}
	return b.lock.Unlock()
}

// brokerLog passes kfake's warnings and errors on and drops the rest.
type brokerLog struct{}

func (brokerLog) Logf(level kfake.LogLevel, format string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		slog.Error("embedded broker: " + fmt.Sprintf(format, args...))
	case kfake.LogLevelWarn:
		slog.Warn("embedded broker: " + fmt.Sprintf(format, args...))
	}
}
