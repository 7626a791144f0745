package kafkaio

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector exports the counters of all jobs to a Prometheus registry, read at
// the moment of the scrape.
func Collector() prometheus.Collector { return collector{} }

type collector struct{}

var (
	labels         = []string{"job", "topic", "partition"}
	recordsInDesc  = prometheus.NewDesc("millrace_kafka_records_in_total", "Records read.", labels, nil)
	recordsOutDesc = prometheus.NewDesc("millrace_kafka_records_out_total", "Records written for records read.", labels, nil)
	bytesInDesc    = prometheus.NewDesc("millrace_kafka_bytes_in_total", "Size of the values read.", labels, nil)
	inFlightDesc   = prometheus.NewDesc("millrace_kafka_in_flight", "Work calls under way.", labels, nil)
	lagDesc        = prometheus.NewDesc("millrace_kafka_lag_records", "Offsets between the next to read and the end of the log.", labels, nil)
	sinceLastDesc  = prometheus.NewDesc("millrace_kafka_since_last_record_seconds", "Time since a record was last read.", labels, nil)
	busyDesc       = prometheus.NewDesc("millrace_kafka_busy_seconds_total", "Time spent in Work, summed over calls.", labels, nil)
)

func (collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{recordsInDesc, recordsOutDesc, bytesInDesc, inFlightDesc, lagDesc, sinceLastDesc, busyDesc} {
		out <- d
	}
}

func (collector) Collect(out chan<- prometheus.Metric) {
	allCounters.Lock()
	all := maps.Clone(allCounters.byJob)
	allCounters.Unlock()
	now := time.Now()
	for _, job := range slices.Sorted(maps.Keys(all)) {
		all[job].each(func(id partitionKey, p *partitionCounters) {
			labelled := []string{job, id.topic, strconv.Itoa(int(id.partition))}
			send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
				out <- prometheus.MustNewConstMetric(d, kind, v, labelled...)
			}
			send(recordsInDesc, prometheus.CounterValue, float64(p.recordsIn.Load()))
			send(recordsOutDesc, prometheus.CounterValue, float64(p.recordsOut.Load()))
			send(bytesInDesc, prometheus.CounterValue, float64(p.bytesIn.Load()))
			send(inFlightDesc, prometheus.GaugeValue, float64(p.inFlight.Load()))
			send(lagDesc, prometheus.GaugeValue, float64(p.lag.Load()))
			send(sinceLastDesc, prometheus.GaugeValue, now.Sub(time.Unix(0, p.last.Load())).Seconds())
			send(busyDesc, prometheus.CounterValue, time.Duration(p.busy.Load()).Seconds())
		})
	}
}
