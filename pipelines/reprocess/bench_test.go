package reprocess_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"millrace/pipelines/reprocess"
	"millrace/schemas"
	"millrace/transforms/filter"
)

// BenchmarkReprocess is the whole way of a data set made on the spot, in two lanes:
// read, decode, filter, advantage, encode, write, broker and disk included. Run it
// with -cpu 2. Mtokens/cpu-s is by processor time, which other work on the machine
// does not take away.
func BenchmarkReprocess(b *testing.B) {
	const total, lanes, size = 1 << 23, 2, 8
	for _, tokens := range []int{4096, 32768} {
		var rewards []schemas.Reward
		for i := range int32(total / tokens) {
			t := trajectory("r", int64(i/size), "t/b/0", i%size, size, tokens)
			rewards = append(rewards, scored(t, float64(i%2)))
		}
		brokers, data := broker(b), b.TempDir()
		topics := produce(b, brokers, "r", lanes, rewards)
		files(b, data, "r", rewards)
		rewards = nil
		for _, from := range []string{"topic", "parquet"} {
			for _, to := range []string{"topic", "parquet"} {
				b.Run(fmt.Sprintf("%d_tokens/%s_to_%s", tokens, from, to), func(b *testing.B) {
					b.ReportAllocs()
					n, before := 0, used(b)
					for b.Loop() {
						var source reprocess.Source = openTopic(b, brokers, topics.Rewarded, nil, lanes)
						var err error
						if from == "parquet" {
							source, err = reprocess.OpenParquet(b.Context(), data, "r", lanes)
						}
						if err != nil {
							b.Fatal(err)
						}
						n++
						var sink reprocess.Sink
						if to == "topic" {
							_, sink = topicSink(b, brokers, fmt.Sprintf("%s-%d.%d.%d", from, tokens, b.N, n), lanes, lanes, false)
						} else if sink, err = reprocess.NewParquetSink(b.TempDir(), "again", lanes, false); err != nil {
							b.Fatal(err)
						}
						report := must(b, reprocess.Config{Source: source, Sink: sink,
							Filter: filter.Config{Mode: filter.Compact}, Advantage: estimator("leave-one-out")})
						if report.Tokens != total || report.Records.Samples != total/int64(tokens) {
							b.Fatalf("%d tokens, %+v", report.Tokens, report.Records)
						}
					}
					b.ReportMetric(float64(n)*total/b.Elapsed().Seconds()/1e6, "Mtokens/s")
					b.ReportMetric(float64(n)*total/(used(b)-before).Seconds()/1e6, "Mtokens/cpu-s")
				})
			}
		}
	}
}

// used is the processor time that this process has taken.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
