package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// poisonTopic writes a record that cannot be decoded: noise, nothing, a record of
// the topic with a bit flipped, or a sound frame of another schema; under a key
// of the topic's or under one of its own.
func poisonTopic(ctx context.Context, brokers, topic string, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 2))
	records, err := recordsOf(ctx, brokers, topic)
	if err != nil {
		return err
	}
	key, value := []byte("poison"), noise(random, 1+random.IntN(300))
	if len(records) > 0 && random.IntN(2) == 0 {
		key = records[random.IntN(len(records))].Key
	}
	switch random.IntN(4) {
	case 0:
		value = nil
	case 1:
		if len(records) > 0 {
			value = slices.Clone(records[random.IntN(len(records))].Value)
			if len(value) > 0 {
				value[random.IntN(len(value))] ^= 1 << random.IntN(8)
			}
		}
	case 2:
		foreign := schemas.DeadLetter{ID: "poison", Stage: "chaos", Reason: schemas.Corrupt}
		if value, err = schemas.DeadLetters.Encode(foreign); err != nil {
			return err
		}
	}
	return kafkaio.Produce(ctx, brokers, kafkaio.Output{Topic: topic, Key: key, Value: value})
}

// repeated is how many records of a topic come again.
const repeated = 8

// repeatTopic writes the last records of a topic once more, the newest first.
func repeatTopic(ctx context.Context, brokers, topic string) error {
	records, err := recordsOf(ctx, brokers, topic)
	if err != nil {
		return err
	}
	records = records[max(0, len(records)-repeated):]
	slices.Reverse(records)
	var outputs []kafkaio.Output
	for _, r := range records {
		outputs = append(outputs, kafkaio.Output{Topic: topic, Key: r.Key, Value: r.Value, Headers: r.Headers})
	}
	return kafkaio.Produce(ctx, brokers, outputs...)
}

// grow gives every topic of the run a partition more. The roles that follow them
// notice and end; when they are started again they have to expect that many.
func (c *campaign) grow(ctx context.Context) error {
	have, err := kafkaio.Topics(ctx, c.broker, func(name string) bool { return strings.HasPrefix(name, run+".") })
	if err != nil {
		return err
	}
	request := &kafka.CreatePartitionsRequest{}
	count := 0
	for _, t := range have {
		count = len(t.Partitions) + 1
		request.Topics = append(request.Topics, kafka.TopicPartitionsConfig{Name: t.Name, Count: int32(count)})
	}
	if err := replaceFile(filepath.Join(c.Dir, partitionsFile), fmt.Sprint(count)); err != nil {
		return err
	}
	if err := awaitPort(c.broker); err != nil {
		return err
	}
	client := &kafka.Client{Addr: kafka.TCP(c.broker), Transport: &kafka.Transport{}, Timeout: growTimeout}
	response, err := client.CreatePartitions(ctx, request)
	if err != nil {
		return fmt.Errorf("growing the topics: %w", err)
	}
	for topic, err := range response.Errors {
		if err != nil {
			return fmt.Errorf("growing %s: %w", topic, err)
		}
	}
	return nil
}

// growTimeout bounds one request to the broker, which may be stalled.
const growTimeout = 10 * time.Second

// recordsOf reads what a topic holds.
func recordsOf(ctx context.Context, brokers, topic string) ([]kafkaio.Record, error) {
	var out []kafkaio.Record
	err := kafkaio.Scan(ctx, brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		out = append(out, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", topic, err)
	}
	return out, nil
}
