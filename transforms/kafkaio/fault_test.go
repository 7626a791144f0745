package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The keys of the requests that are interfered with.
const (
	produceKey      = 0
	fetchKey        = 1
	offsetCommitKey = 8
)

// TestProduceErrorsAreRetried: the first attempts are refused in different
// ways, of which one is a lie (the records were taken, the answer is lost).
// Every record is there in the end, and only the lie makes a duplicate.
func TestProduceErrorsAreRetried(t *testing.T) {
	cluster := startFake(t)
	brokers := cluster.ListenAddrs()[0]
	topic := newTopic(t, brokers, 1)
	for _, code := range []int16{kerr.NotLeaderForPartition.Code, kerr.RequestTimedOut.Code, kerr.NotEnoughReplicas.Code} {
		cluster.ControlKey(produceKey, func(request kmsg.Request) (kmsg.Response, error, bool) {
			return produceAnswer(request.(*kmsg.ProduceRequest), code), nil, true
		})
	}
	cluster.ControlKey(produceKey, func(kmsg.Request) (kmsg.Response, error, bool) {
		return nil, errors.New("connection lost before the write"), true
	})
	if err := Produce(t.Context(), brokers, Output{Topic: topic, Value: []byte("a"), ID: "a"}, Output{Topic: topic, Value: []byte("b"), ID: "b"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range consumeAll(t, Source{Brokers: brokers, Topic: topic}) {
		got = append(got, string(r.Value))
	}
	if strings.Join(got, " ") != "a b" {
		t.Errorf("the log holds %v", got)
	}
}

func produceAnswer(request *kmsg.ProduceRequest, code int16) kmsg.Response {
	response := request.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range request.Topics {
		answer := kmsg.NewProduceResponseTopic()
		answer.Topic, answer.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			part := kmsg.NewProduceResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, code
			answer.Partitions = append(answer.Partitions, part)
		}
		response.Topics = append(response.Topics, answer)
	}
	return response
}

func TestProduceErrorsThatCannotBeHelped(t *testing.T) {
	cluster := startFake(t)
	brokers := cluster.ListenAddrs()[0]
	topic := newTopic(t, brokers, 1)
	cluster.ControlKey(produceKey, func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return produceAnswer(request.(*kmsg.ProduceRequest), kerr.TopicAuthorizationFailed.Code), nil, true
	})
	err := Produce(t.Context(), brokers, Output{Topic: topic})
	want := fmt.Sprintf("kafka %s: writing 1 records to %s: [29] Topic Authorization Failed", brokers, topic)
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestFetchSurvivesLostConnectionsAndMovedLeaders reads while every third fetch
// loses its connection and the leader moves between two brokers.
func TestFetchSurvivesLostConnectionsAndMovedLeaders(t *testing.T) {
	cluster := startFake(t, kfake.NumBrokers(2))
	brokers := strings.Join(cluster.ListenAddrs(), ",")
	topic := newTopic(t, brokers, 1)
	var fetches atomic.Int64
	cluster.ControlKey(fetchKey, func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if fetches.Add(1)%3 == 0 {
			return nil, errors.New("connection lost"), true
		}
		return nil, nil, false
	})
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan int64, 100)
	consumed := make(chan error, 1)
	go func() {
		consumed <- Consume(ctx, Source{Job: t.Name(), Brokers: brokers, Topic: topic}, func(r Record) error {
			seen <- r.Source.Offset
			return nil
		})
	}()
	for i := range int64(6) {
		if i == 3 {
			leader := cluster.PartitionInfo(topic, 0).Leader
			if err := cluster.MoveTopicPartition(topic, 0, 1-leader); err != nil {
				t.Fatal(err)
			}
		}
		if err := Produce(t.Context(), brokers, Output{Topic: topic, Value: fmt.Append(nil, i)}); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; got != i {
			t.Fatalf("read offset %d, want %d", got, i)
		}
	}
	cancel()
	if err := <-consumed; !errors.Is(err, context.Canceled) {
		t.Errorf("Consume: %v", err)
	}
}

// TestDeletedRecordsAreAnError: reading on from somewhere else would lose
// records without a word.
func TestDeletedRecordsAreAnError(t *testing.T) {
	cluster := startFake(t)
	brokers := cluster.ListenAddrs()[0]
	topic := newTopic(t, brokers, 1)
	for range 5 {
		if err := Produce(t.Context(), brokers, Output{Topic: topic, Value: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := cluster.DeleteRecords(topic, 0, 3); err != nil {
		t.Fatal(err)
	}
	// While it is resolved, and while it is read.
	err := Consume(t.Context(), Source{Job: t.Name(), Brokers: brokers, Topic: topic, From: At(1)}, nil)
	if !errors.Is(err, ErrOffsetOutOfRange) || !strings.Contains(err.Error(), "[3, 5)") {
		t.Errorf("resolving: %v", err)
	}
	err = follow(t.Context(), clientFor(brokers), partition{Topic: topic, Start: 1, End: 5}, brokers, RetryFor, func(int64, int64) {}, nil)
	want := fmt.Sprintf("kafka %s: fetching %s[0]@1: offset out of range", brokers, topic)
	if !errors.Is(err, ErrOffsetOutOfRange) || err.Error() != want {
		t.Errorf("reading: %v\nwant %s", err, want)
	}
}

func TestCommitWaitsForTheCoordinator(t *testing.T) {
	cluster := startFake(t)
	brokers := cluster.ListenAddrs()[0]
	topic := newTopic(t, brokers, 1)
	if err := Produce(t.Context(), brokers, Output{Topic: topic, Value: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	refused := 0
	cluster.ControlKey(offsetCommitKey, func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if refused == 3 {
			return nil, nil, false
		}
		refused++
		r := request.(*kmsg.OffsetCommitRequest)
		response := r.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, rt := range r.Topics {
			answer := kmsg.NewOffsetCommitResponseTopic()
			answer.Topic = rt.Topic
			for _, rp := range rt.Partitions {
				part := kmsg.NewOffsetCommitResponseTopicPartition()
				part.Partition, part.ErrorCode = rp.Partition, kerr.CoordinatorLoadInProgress.Code
				answer.Partitions = append(answer.Partitions, part)
			}
			response.Topics = append(response.Topics, answer)
		}
		return response, nil, true
	})
	c := clientFor(brokers)
	if err := c.commit(t.Context(), RetryFor, "g", topic, 0, 1); err != nil || refused != 3 {
		t.Fatalf("refused %d times: %v", refused, err)
	}
	if b, err := c.bounds(t.Context(), RetryFor, "g", topic, 0); err != nil || b.committed != 1 {
		t.Errorf("bounds %+v, %v", b, err)
	}
}

// TestBrokerThatIsNotThere names it, in one line, within the time given.
func TestBrokerThatIsNotThere(t *testing.T) {
	cluster := startFake(t)
	brokers := cluster.ListenAddrs()[0]
	cluster.Close()
	err := Consume(t.Context(), Source{Job: t.Name(), Brokers: brokers, Topic: "x", RetryFor: 100 * time.Millisecond}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "kafka "+brokers+": listing the partitions of x: gave up after 100ms: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
