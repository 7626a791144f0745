package kafkaio

import (
	"context"
	"fmt"
	"sync"
	"time"

	"millrace/schemas"
)

// memory is a broker without sockets, for tests that own the time. Its topics
// have one partition each.
type memory struct {
	mu      sync.Mutex
	logs    map[string][]Record
	grown   chan struct{} // closed and replaced when a log grows
	commits []int64       // in the order stored

	latency time.Duration         // of produce and commit
	handed  int                   // bytes of all answers
	refuse  func(op string) error // asked before each operation; nil refuses nothing
}

func newMemory() *memory {
	return &memory{logs: make(map[string][]Record), grown: make(chan struct{}), latency: time.Millisecond}
}

func (m *memory) asked(op string) error {
	m.mu.Lock()
	refuse := m.refuse
	m.mu.Unlock()
	if refuse == nil {
		return nil
	}
	return refuse(op)
}

func (m *memory) append(topic string, outputs ...Output) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range outputs {
		m.logs[topic] = append(m.logs[topic], Record{
			Key: o.Key, Value: o.Value, Headers: []Header{{Key: "id", Value: []byte(o.ID)}},
			Time:   time.Now().UnixMilli(),
			Source: schemas.Position{Topic: topic, Offset: int64(len(m.logs[topic]))},
		})
	}
	close(m.grown)
	m.grown = make(chan struct{})
}

func (m *memory) fill(topic string, n int) {
	for i := range n {
		m.append(topic, Output{Value: fmt.Append(nil, i), ID: fmt.Sprint(i)})
	}
}

func (m *memory) fetch(ctx context.Context, topic string, _ int32, offset int64) (batch, error) {
	if err := m.asked("fetch"); err != nil {
		return batch{}, err
	}
	for range 2 {
		m.mu.Lock()
		log, grown := m.logs[topic], m.grown
		m.mu.Unlock()
		if int64(len(log)) > offset {
			return m.answer(log, offset), nil
		}
		select {
		case <-grown:
		case <-time.After(fetchWait):
			return batch{next: offset, high: int64(len(log))}, nil
		case <-ctx.Done():
			return batch{}, ctx.Err()
		}
	}
	return batch{next: offset, high: offset}, nil
}

// answer holds at most fetchBytes, or one record.
func (m *memory) answer(log []Record, offset int64) batch {
	next, size := offset, 0
	for next < int64(len(log)) && (size == 0 || size+len(log[next].Value) <= fetchBytes) {
		size += len(log[next].Value)
		next++
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handed += size
	return batch{records: log[offset:next], next: next, high: int64(len(log))}
}

// given is the size of what was fetched.
func (m *memory) given() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.handed
}

func (m *memory) whole(_ context.Context, _ time.Duration, r Record) (Record, error) { return r, nil }

func (m *memory) produce(ctx context.Context, budget time.Duration, outputs []Output) error {
	return retry(ctx, budget, "memory", fmt.Sprintf("writing %d records", len(outputs)), func(ctx context.Context) error {
		if err := m.asked("produce"); err != nil {
			return err
		}
		if !sleep(ctx, m.latency) {
			return ctx.Err()
		}
		for _, o := range outputs {
			m.append(o.Topic, o)
		}
		return nil
	})
}

func (m *memory) groupPosition(context.Context, time.Duration, string, string, int32) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.commits) == 0 {
		return -1, nil
	}
	return m.commits[len(m.commits)-1], nil
}

func (m *memory) commit(ctx context.Context, budget time.Duration, group, topic string, partition int32, position int64) error {
	return retry(ctx, budget, "memory", "committing", func(ctx context.Context) error {
		if err := m.asked("commit"); err != nil {
			return err
		}
		if !sleep(ctx, m.latency) {
			return ctx.Err()
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.commits = append(m.commits, position)
		return nil
	})
}

// committed is the position committed last, 0 if none.
func (m *memory) committed() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.commits) == 0 {
		return 0
	}
	return m.commits[len(m.commits)-1]
}

// written are the values of a topic in the order written.
func (m *memory) written(topic string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var values []string
	for _, r := range m.logs[topic] {
		values = append(values, string(r.Value))
	}
	return values
}
