package kafkaio

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestOutboxKeepsOrderAndBatchesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.latency = time.Second
		batches := 0
		m.refuse = func(string) error { batches++; return nil }
		o := newOutbox(t.Context(), m, time.Minute, nil)
		var want []string
		for i := range 100 {
			want = append(want, fmt.Sprint(i))
			o.emit(Output{Topic: "out", Value: []byte(want[i])})
			time.Sleep(100 * time.Millisecond)
		}
		if err := o.close(); err != nil {
			t.Fatal(err)
		}
		if got := m.written("out"); !slices.Equal(got, want) {
			t.Errorf("written %v", got)
		}
		// 10 s of emits into batches that take 1 s each.
		if batches < 10 || batches > 12 || o.count != 100 {
			t.Errorf("%d batches, %d outputs", batches, o.count)
		}
	})
}

func TestOutboxBlocksWhileTheBrokerIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.latency = time.Second
		o := newOutbox(t.Context(), m, time.Hour, nil)
		began := time.Now()
		for range 3 {
			o.emit(Output{Topic: "out", Value: make([]byte, outboxBytes+1)})
		}
		// Each waits for the one before it to be written.
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("three outputs over the limit were taken in %s", took)
		}
		if err := o.close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOutboxReportsTheFailureAndNeverBlocksAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.refuse = func(string) error { return io.EOF }
		o := newOutbox(t.Context(), m, time.Second, nil)
		var emitters sync.WaitGroup
		for range 10 {
			emitters.Go(func() { o.emit(Output{Topic: "out", Value: make([]byte, outboxBytes)}) })
		}
		emitters.Wait()
		if err := o.close(); !errors.Is(err, io.EOF) {
			t.Errorf("close: %v", err)
		}
	})
}

func TestEmitAfterReturnIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late error
		o := newOutbox(t.Context(), newMemory(), time.Second, func(err error) { late = err })
		if err := o.close(); err != nil {
			t.Fatal(err)
		}
		o.emit(Output{Topic: "out"})
		if !errors.Is(late, errEmitLate) {
			t.Errorf("told %v", late)
		}
	})
}
