package tokenizer_test

import (
	"fmt"
	"slices"

	"millrace/kernels/tokenizer"
)

func Example() {
	corpus := []string{"if a < b {", "if b < c {"}
	t, err := tokenizer.Train(slices.Values(corpus), 262, []string{tokenizer.MessageStart, tokenizer.MessageEnd, tokenizer.EndOfText})
	if err != nil {
		panic(err)
	}
	for _, id := range t.Encode("if b < 10<|im_end|>") {
		fmt.Printf("%d %q\n", id, t.Decode([]int32{id}))
	}
	// Output:
	// 256 "if"
	// 258 " b"
	// 257 " <"
	// 220 " "
	// 16 "1"
	// 15 "0"
	// 260 "<|im_end|>"
}
