package kafkaio

import (
	"io"

	"github.com/segmentio/kafka-go/protocol"
)

func init() { protocol.Register(&logDirsRequest{}, &logDirsResponse{}) }

// logDirsRequest is DescribeLogDirs (key 35), which kafka-go leaves out, in version
// 1: the last whose fields have fixed places, and the first that Kafka 4 speaks.
// Each broker tells of its own disks, so all are asked.
type logDirsRequest struct {
	Topics []logDirsTopic `kafka:"min=v1,max=v1,nullable"`

	broker int32
}

type logDirsTopic struct {
	Topic      string  `kafka:"min=v1,max=v1"`
	Partitions []int32 `kafka:"min=v1,max=v1"`
}

// logDirsResponse is the answer of one broker, or of several.
type logDirsResponse struct {
	ThrottleTimeMs int32    `kafka:"min=v1,max=v1"`
	Dirs           []logDir `kafka:"min=v1,max=v1"`
}

type logDir struct {
	ErrorCode int16         `kafka:"min=v1,max=v1"` // of a disk that is lost: it has no topics
	Dir       string        `kafka:"min=v1,max=v1"`
	Topics    []logDirTopic `kafka:"min=v1,max=v1"`
}

type logDirTopic struct {
	Name       string            `kafka:"min=v1,max=v1"`
	Partitions []logDirPartition `kafka:"min=v1,max=v1"`
}

type logDirPartition struct {
	ID        int32 `kafka:"min=v1,max=v1"`
	Bytes     int64 `kafka:"min=v1,max=v1"`
	OffsetLag int64 `kafka:"min=v1,max=v1"`
	// Future is a replica on its way from one disk of the broker to another.
	Future bool `kafka:"min=v1,max=v1"`
}

func (*logDirsRequest) ApiKey() protocol.ApiKey  { return protocol.DescribeLogDirs }
func (*logDirsResponse) ApiKey() protocol.ApiKey { return protocol.DescribeLogDirs }

// Broker implements protocol.BrokerMessage.
func (r *logDirsRequest) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	return cluster.Brokers[r.broker], nil
}

// Split implements protocol.Splitter.
func (r *logDirsRequest) Split(cluster protocol.Cluster) ([]protocol.Message, protocol.Merger, error) {
	var messages []protocol.Message
	for _, id := range cluster.BrokerIDs() {
		messages = append(messages, &logDirsRequest{Topics: r.Topics, broker: id})
	}
	return messages, &logDirsResponse{}, nil
}

// Merge implements protocol.Merger. What a broker that failed would have told is
// missing; it is an error where all have failed.
func (*logDirsResponse) Merge(_ []protocol.Message, results []any) (protocol.Message, error) {
	merged, answered := &logDirsResponse{}, false
	var failed error
	for _, result := range results {
		m, err := protocol.Result(result)
		if err != nil {
			failed = err
			continue
		}
		answered = true
		merged.Dirs = append(merged.Dirs, m.(*logDirsResponse).Dirs...)
	}
	if answered {
		return merged, nil
	}
	return merged, failed
}

// Required implements protocol.RawExchanger: a broker that does not know the request
// is not asked. Without it kafka-go fails with an error that says nothing of that.
func (*logDirsRequest) Required(versions map[protocol.ApiKey]int16) bool {
	_, known := versions[protocol.DescribeLogDirs]
	return !known
}

// RawExchange is the answer of such a broker: it tells of no disk.
func (*logDirsRequest) RawExchange(io.ReadWriter) (protocol.Message, error) {
	return &logDirsResponse{}, nil
}
