package kafkaio

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// flood fills a topic with n records of size bytes, more than any stage holds.
func flood(m *memory, n, size int) {
	value := make([]byte, size)
	outputs := make([]Output, n)
	for i := range outputs {
		outputs[i] = Output{Value: value}
	}
	m.append("in", outputs...)
}

// TestAsyncHoldsWhatItWorksOn: however much there is to read, a slow stage has
// read no more than one record a slot and one answer of the broker.
func TestAsyncHoldsWhatItWorksOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, slots = 1 << 20, 4
		b := newBench(t, AsyncConfig{InFlight: slots}, func(ctx context.Context, r Record, _ func(Output)) error {
			sleep(ctx, time.Hour)
			return nil
		})
		flood(b.memory, 200, size)
		if err := b.collectFor(30 * time.Minute); err != nil { // to be in the middle of the work
			t.Fatal(err)
		}
		for hours := 1; hours <= 5; hours++ {
			if err := b.collectFor(time.Hour); err != nil {
				t.Fatal(err)
			}
			// An answer is fetched when every record of the last one has a slot.
			done := hours * slots * size
			if held := b.memory.given() - done; held > (slots+1)*size+fetchBytes {
				t.Errorf("after %d hours %d MiB are held", hours, held>>20)
			}
		}
		if b.memory.given() < 4*slots*size {
			t.Errorf("only %d MiB were read", b.memory.given()>>20)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestReadHoldsItsLagBytes: whatever comes behind Read may take its time; what is
// read and not finished, buffered and on its way stays below its bound.
func TestReadHoldsItsLagBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, bound = 1 << 20, 40 << 20
		logged := warnings(t)
		m := newMemory()
		flood(m, 500, size)
		r, _ := newReader(t, m, ReadConfig{Source: Source{Group: "g"}, LagBytes: bound}, partition{Topic: "in", End: unbounded})
		finished := 0
		for range 5 {
			if taken := takeFor(r, time.Minute); taken != bound/size {
				t.Errorf("%d records of 1 MiB were taken, want %d", taken, bound/size)
			}
			if held := m.given() - finished*size; held > bound+size+fetchBytes {
				t.Errorf("%d MiB are held", held>>20)
			}
			finished += bound / size
			if err := m.commit(t.Context(), time.Second, "g", "in", 0, int64(finished)); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(logged.String(), "waits: 40 MiB are read and not finished") {
			t.Errorf("logged %q", logged)
		}
		if err := Stop(t.Name()); err != nil {
			t.Error(err)
		}
	})
}

// TestReadHoldsItsBuffer: where nobody commits, the runner's own pull is the
// bound: a runner that takes nothing has one buffer waiting.
func TestReadHoldsItsBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		m := newMemory()
		flood(m, 500, size)
		r, _ := newReader(t, m, ReadConfig{}, partition{Topic: "in", End: unbounded})
		for taken := range 100 {
			time.Sleep(time.Minute)
			if held := m.given() - taken*size; held > readAheadBytes+size+fetchBytes {
				t.Errorf("%d MiB are held", held>>20)
			}
			if _, ok := r.take(); !ok {
				t.Fatalf("record %d is not there", taken)
			}
		}
		if err := Stop(t.Name()); err != nil {
			t.Error(err)
		}
	})
}
