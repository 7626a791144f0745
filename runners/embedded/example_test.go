package embedded_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/runners/embedded"
	"millrace/transforms/kafkaio"
)

func Example() {
	ctx := context.Background()
	broker, err := embedded.StartBroker(embedded.BrokerConfig{}) // in memory, on a free port
	if err != nil {
		fmt.Println(err)
		return
	}
	defer broker.Close()
	if err := kafkaio.EnsureTopics(ctx, broker.Addr(), kafkaio.TopicSpec{Name: "words", Partitions: 2}, kafkaio.TopicSpec{Name: "shouts", Partitions: 1}); err != nil {
		fmt.Println(err)
		return
	}
	defer kafkaio.RegisterWork("shout", func(ctx context.Context, r kafkaio.Record, emit func(kafkaio.Output)) error {
		emit(kafkaio.Output{Topic: "shouts", Key: r.Key, Value: bytes.ToUpper(r.Value), ID: "shout/" + string(r.Key)})
		return nil
	})()
	p, s := beam.NewPipelineWithRoot()
	kafkaio.Async(s, kafkaio.AsyncConfig{
		Source: kafkaio.Source{Job: "shout", Brokers: broker.Addr(), Topic: "words", Group: "shout"},
		Work:   "shout", InFlight: 8,
	})
	job, err := embedded.RunJob(ctx, "shout", p)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := kafkaio.Produce(ctx, broker.Addr(), kafkaio.Output{Topic: "words", Key: []byte("k"), Value: []byte("hello")}); err != nil {
		fmt.Println(err)
		return
	}
	heard := fmt.Errorf("heard one")
	err = kafkaio.Consume(ctx, kafkaio.Source{Job: "listen", Brokers: broker.Addr(), Topic: "shouts"}, func(r kafkaio.Record) error {
		fmt.Printf("%s\n", r.Value)
		return heard
	})
	if err != heard {
		fmt.Println(err)
	}
	kafkaio.Drain("shout")
	fmt.Println(job.Wait())
	// Output:
	// HELLO
	// <nil>
}
