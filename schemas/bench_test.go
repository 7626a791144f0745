package schemas

import "testing"

// BenchmarkSamples encodes and decodes one sample of 2048 tokens, the context of
// the default policy, half of them sampled.
func BenchmarkSamples(b *testing.B) {
	const n = 2048
	s := exampleSample()
	s.Tokens, s.LossMask, s.LogProbs, s.Versions = make([]int32, n), make([]bool, n), make([]float32, n), make([]int32, n)
	for i := range n {
		s.Tokens[i], s.Versions[i] = int32(i), -1
		if i%2 == 1 {
			s.LossMask[i], s.LogProbs[i], s.Versions[i] = true, -float32(i)/n, 3
		}
	}
	frame, err := Samples.Encode(s)
	if err != nil {
		b.Fatal(err)
	}
	rate := func(b *testing.B) { b.ReportMetric(float64(b.N)*n/1e6/b.Elapsed().Seconds(), "Mtokens/s") }
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Samples.Encode(s); err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Samples.Decode(frame); err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
	b.Run("encode+decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			frame, err := Samples.Encode(s)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := Samples.Decode(frame); err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
}
