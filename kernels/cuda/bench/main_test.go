package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"millrace/kernels"
)

// TestBatch: a batch of the file has its micro-batches in order, each token but the first
// of a sequence trained, and the names that errors give it.
func TestBatch(t *testing.T) {
	var s settings
	text := `{"Loss": {"ClipLow": 0.2, "Divisor": 7}, "Shapes": {"two": [
		[{"Tokens": [5, 6], "Advantage": -1, "Behaviour": -2.5}], [{"Tokens": [7, 8, 9], "Advantage": 1, "Behaviour": -3}]]}}`
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	got, err := s.batch("two")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]kernels.Sequence{
		{{ID: "two 0.0", Tokens: []int32{5, 6}, Mask: []bool{false, true}, LogProbs: []float32{-2.5, -2.5}, Advantage: -1}},
		{{ID: "two 1.0", Tokens: []int32{7, 8, 9}, Mask: []bool{false, true, true}, LogProbs: []float32{-3, -3, -3}, Advantage: 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("batch is %+v, want %+v", got, want)
	}
	if s.Loss.ClipLow != 0.2 || s.Loss.Divisor != 7 {
		t.Errorf("loss is %+v", s.Loss)
	}
	if _, err := s.batch("three"); err == nil || !strings.Contains(err.Error(), `"three"`) {
		t.Errorf("error for a batch that is not there: %v", err)
	}
}

// TestCacheBytes: 2 sequences of 100+1+16+20 tokens take 3 pages of 64 and one more, of
// keys and values of 4 layers, 2 heads of 8 numbers of 2 bytes.
func TestCacheBytes(t *testing.T) {
	c := decode{Sequences: 2, Context: 100, Warm: 16, Tokens: 20}
	cfg := kernels.Config{NumHiddenLayers: 4, NumKeyValueHeads: 2, HeadDim: 8}
	if got, want := c.cacheBytes(cfg), uint64(2*4*64*2*4*2*8*2); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}
