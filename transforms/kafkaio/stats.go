package kafkaio

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"millrace/schemas"
)

// Stats are the numbers of one job in this process since it began, over all its
// partitions. Counters survive Stop, so that a report at the end can be made.
type Stats struct {
	RecordsIn, RecordsOut int64
	// BytesIn is the size of the values read.
	BytesIn int64
	// InFlight is the number of Work calls under way.
	InFlight int64
	// Lag is the number of offsets between the next to be read and the end of the
	// log, summed over partitions.
	Lag int64
	// SinceLast is the time since a record was last read, or since the job began.
	SinceLast time.Duration
	// Busy is the time spent in Work, summed over calls: divided by InFlight's
	// bound and by the time elapsed it is the stage's utilisation.
	Busy time.Duration
}

// StatsOf returns the numbers of a job, all zero for one never heard of.
func StatsOf(job string) Stats {
	allCounters.Lock()
	c := allCounters.byJob[job]
	allCounters.Unlock()
	if c == nil {
		return Stats{}
	}
	return c.sum(time.Now())
}

// Metrics are the same numbers under the project's metric names.
func (s Stats) Metrics(job string) []schemas.Metric {
	return []schemas.Metric{
		{Name: job + "/records_in/total", Value: float64(s.RecordsIn)},
		{Name: job + "/records_out/total", Value: float64(s.RecordsOut)},
		{Name: job + "/bytes_in/total", Value: float64(s.BytesIn)},
		{Name: job + "/in_flight/now", Value: float64(s.InFlight)},
		{Name: job + "/lag/records", Value: float64(s.Lag)},
		{Name: job + "/since_last_record/seconds", Value: s.SinceLast.Seconds()},
		{Name: job + "/busy/seconds", Value: s.Busy.Seconds()},
	}
}

// allCounters are the counters of every job that ever ran in this process.
var allCounters = struct {
	sync.Mutex
	byJob map[string]*counters
}{byJob: make(map[string]*counters)}

type counters struct {
	began time.Time

	mu          sync.Mutex // guards the map, not the counters in it
	byPartition map[partitionKey]*partitionCounters
}

// partitionCounters are written by the goroutines of one partition.
type partitionCounters struct {
	recordsIn, recordsOut, bytesIn, inFlight, lag, busy atomic.Int64
	last                                                atomic.Int64 // Unix nanoseconds
}

func countersFor(job string) *counters {
	allCounters.Lock()
	defer allCounters.Unlock()
	c := allCounters.byJob[job]
	if c == nil {
		c = &counters{began: time.Now(), byPartition: make(map[partitionKey]*partitionCounters)}
		allCounters.byJob[job] = c
	}
	return c
}

func (c *counters) of(topic string, partition int32) *partitionCounters {
	id := partitionKey{topic: topic, partition: partition}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.byPartition[id]
	if p == nil {
		p = &partitionCounters{}
		p.last.Store(c.began.UnixNano())
		c.byPartition[id] = p
	}
	return p
}

func (c *counters) each(visit func(partitionKey, *partitionCounters)) {
	c.mu.Lock()
	parts := maps.Clone(c.byPartition)
	c.mu.Unlock()
	ids := slices.SortedFunc(maps.Keys(parts), func(a, b partitionKey) int {
		if a.topic != b.topic {
			if a.topic < b.topic {
				return -1
			}
			return 1
		}
		return int(a.partition - b.partition)
	})
	for _, id := range ids {
		visit(id, parts[id])
	}
}

func (c *counters) sum(now time.Time) Stats {
	last := c.began.UnixNano()
	var s Stats
	c.each(func(_ partitionKey, p *partitionCounters) {
		s.RecordsIn += p.recordsIn.Load()
		s.RecordsOut += p.recordsOut.Load()
		s.BytesIn += p.bytesIn.Load()
		s.InFlight += p.inFlight.Load()
		s.Lag += p.lag.Load()
		s.Busy += time.Duration(p.busy.Load())
		last = max(last, p.last.Load())
	})
	s.SinceLast = now.Sub(time.Unix(0, last))
	return s
}

// progress notes where reading stands after an answer.
func (p *partitionCounters) progress(next, high int64) { p.lag.Store(max(high-next, 0)) }

// read notes one record read.
func (p *partitionCounters) read(bytes int) {
	p.recordsIn.Add(1)
	p.bytesIn.Add(int64(bytes))
	p.last.Store(time.Now().UnixNano())
}

// begin notes one record read and its work begun.
func (p *partitionCounters) begin(bytes int) time.Time {
	p.read(bytes)
	p.inFlight.Add(1)
	return time.Now()
}

// worked notes that Work has returned.
func (p *partitionCounters) worked(begun time.Time) { p.busy.Add(int64(time.Since(begun))) }

// end notes that a record is done with, and how many outputs it had.
func (p *partitionCounters) end(outputs int64) {
	p.inFlight.Add(-1)
	p.recordsOut.Add(outputs)
}
