package kafkaio

import (
	"errors"
	"testing"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// testSizes: a topic's size is what was written and its framing, in the partition
// that has it, and what franz-go is told of the same partitions in its own words.
func testSizes(t *testing.T, brokers string, options []kgo.Opt) {
	const written = 100_000
	topic := newTopic(t, brokers, 2)
	if err := Produce(t.Context(), brokers, Output{Topic: topic, Key: []byte("k"), Value: noise(written)}); err != nil {
		t.Fatal(err)
	}
	topics, err := Topics(t.Context(), brokers, func(name string) bool { return name == topic })
	if err != nil || len(topics) != 1 {
		t.Fatalf("%v, %v", topics, err)
	}
	if n := topics[0].Bytes(); n < written || n > written+1000 {
		t.Errorf("%d bytes written take %d", written, n)
	}
	other, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(brokers)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	request := kmsg.NewPtrDescribeLogDirsRequest() // of all topics
	response, err := request.RequestWith(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int32]int64{}
	for _, dir := range response.Dirs {
		for _, asked := range dir.Topics {
			if asked.Topic == topic {
				for _, p := range asked.Partitions {
					want[p.Partition] = p.Size
				}
			}
		}
	}
	for _, p := range topics[0].Partitions {
		if size, told := want[p.ID]; !told || size != p.Bytes || (p.Last == 0) != (size == 0) {
			t.Errorf("partition %d of %d records has %d bytes, and %d by franz-go (%v)", p.ID, p.Last, p.Bytes, size, told)
		}
	}
}

// TestSizesThatNobodyTells: no size is better than a part of one, and a broker that
// does not know the question hinders no other answer.
func TestSizesThatNobodyTells(t *testing.T) {
	older := kversion.Stable()
	older.SetMaxKeyVersion(35, -1)
	for _, c := range []struct {
		name   string
		answer func(*kmsg.DescribeLogDirsRequest) *kmsg.DescribeLogDirsResponse
		limit  kfake.Opt
	}{
		{name: "not known to the broker", limit: kfake.MaxVersions(older)},
		{name: "refused", answer: func(r *kmsg.DescribeLogDirsRequest) *kmsg.DescribeLogDirsResponse {
			return r.ResponseKind().(*kmsg.DescribeLogDirsResponse)
		}},
		{name: "a disk is lost", answer: func(r *kmsg.DescribeLogDirsRequest) *kmsg.DescribeLogDirsResponse {
			response := r.ResponseKind().(*kmsg.DescribeLogDirsResponse)
			response.Dirs = []kmsg.DescribeLogDirsResponseDir{{ErrorCode: 56, Dir: "/lost"}}
			return response
		}},
		{name: "a replica is only on its way", answer: func(r *kmsg.DescribeLogDirsRequest) *kmsg.DescribeLogDirsResponse {
			response := r.ResponseKind().(*kmsg.DescribeLogDirsResponse)
			response.Dirs = []kmsg.DescribeLogDirsResponseDir{{Dir: "/new", Topics: []kmsg.DescribeLogDirsResponseDirTopic{{
				Topic: r.Topics[0].Topic, Partitions: []kmsg.DescribeLogDirsResponseDirTopicPartition{{Size: 5, IsFuture: true}},
			}}}}
			return response
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var options []kfake.Opt
			if c.limit != nil {
				options = append(options, c.limit)
			}
			broker := startFake(t, options...)
			if c.answer != nil {
				broker.ControlKey(35, func(r kmsg.Request) (kmsg.Response, error, bool) {
					broker.KeepControl()
					return c.answer(r.(*kmsg.DescribeLogDirsRequest)), nil, true
				})
			}
			brokers := broker.ListenAddrs()[0]
			topic := newTopic(t, brokers, 1)
			topics, err := Topics(t.Context(), brokers, func(name string) bool { return name == topic })
			if err != nil || len(topics) != 1 || topics[0].Bytes() != -1 || topics[0].Partitions[0].Bytes != -1 {
				t.Errorf("%+v, %v", topics, err)
			}
		})
	}
}

// TestLogDirsOfSeveralBrokers: each is asked, those that answer are put together, and
// it is an error only where none does.
func TestLogDirsOfSeveralBrokers(t *testing.T) {
	request := &logDirsRequest{Topics: []logDirsTopic{{Topic: "t", Partitions: []int32{0}}}}
	cluster := protocol.Cluster{Brokers: map[int32]protocol.Broker{4: {ID: 4}, 2: {ID: 2}}}
	messages, merger, err := request.Split(cluster)
	if err != nil || len(messages) != 2 {
		t.Fatalf("%d requests, %v", len(messages), err)
	}
	for i, want := range []int32{2, 4} {
		m := messages[i].(*logDirsRequest)
		if b, err := m.Broker(cluster); err != nil || b.ID != want || len(m.Topics) != 1 {
			t.Errorf("request %d goes to broker %d with %v, %v", i, b.ID, m.Topics, err)
		}
	}
	away := errors.New("away")
	a, b := &logDirsResponse{Dirs: []logDir{{Dir: "/a"}}}, &logDirsResponse{Dirs: []logDir{{Dir: "/b"}}}
	for _, c := range []struct {
		results []any
		dirs    int
		err     error
	}{
		{[]any{a, b}, 2, nil},
		{[]any{a, away}, 1, nil},
		{[]any{away, away}, 0, away},
	} {
		m, err := merger.Merge(messages, c.results)
		if !errors.Is(err, c.err) || len(m.(*logDirsResponse).Dirs) != c.dirs {
			t.Errorf("%v: %+v, %v", c.results, m, err)
		}
	}
}
