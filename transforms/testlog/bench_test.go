package testlog

import (
	"strings"
	"testing"
)

// BenchmarkParse reads a megabyte in each format: the format's own log over and over.
func BenchmarkParse(b *testing.B) {
	const size = 1 << 20
	logs(b, func(format, name, log string) {
		if strings.Contains(strings.TrimPrefix(name, "testdata/logs/"), ".") {
			return // the second log of a format
		}
		whole := strings.Repeat(log+"\n", size/(len(log)+1)+1)[:size]
		b.Run(format, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(format, whole, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	events := stream(b, "fail.jsonl")
	b.Run(GoTestJSON, func(b *testing.B) {
		whole := strings.Repeat(events, size/len(events)+1)[:size]
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(GoTestJSON, whole, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOfficialLogs reads the recorded evaluations, whose logs have up to a
// megabyte and hundreds of verdicts.
func BenchmarkOfficialLogs(b *testing.B) {
	byFormat := map[string][]string{}
	evaluations(b, func(e evaluation) {
		format, err := FormatOfRepo(e.Repo, e.Instance)
		if err != nil {
			b.Fatal(err)
		}
		byFormat[format] = append(byFormat[format], e.Log)
	})
	for _, format := range Formats() {
		if len(byFormat[format]) == 0 {
			continue
		}
		b.Run(format, func(b *testing.B) {
			size := 0
			for _, log := range byFormat[format] {
				size += len(log)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, log := range byFormat[format] {
					if _, err := Parse(format, log, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
