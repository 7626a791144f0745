package difflib

import (
	"context"
	"unicode/utf8"
)

// Ratio is CPython's SequenceMatcher(None, a, b, autojunk=False).ratio() over the code
// points of two texts:
//
//	2 M / T
//
// M is the number of code points in matching blocks, T that of both texts. It is in
// [0, 1], 1 for two empty texts, and not symmetric. A byte that is no UTF-8 counts as
// the code point that Python's error handler "surrogateescape" makes of it.
//
// Errors are the cause of ctx's end, and [ErrTooMuch].
func Ratio(ctx context.Context, a, b string) (float64, error) {
	m, err := characters(newMeter(ctx), a, b)
	if err != nil {
		return 0, err
	}
	blocks, err := m.blocks()
	if err != nil {
		return 0, err
	}
	total := len(m.a) + len(m.b)
	if total == 0 {
		return 1, nil
	}
	matches := 0
	for _, block := range blocks {
		matches += block.size
	}
	return 2 * float64(matches) / float64(total), nil
}

// characters returns the matcher of two texts' code points.
func characters(meter *meter, a, b string) (*matcher, error) {
	if err := meter.admit("code points", utf8.RuneCountInString(a), utf8.RuneCountInString(b)); err != nil {
		return nil, err
	}
	numbers := alphabet{}
	x, y := numbers.of(a), numbers.of(b)
	return newMatcher(meter, x, y, numbers.count, nil)
}

// alphabet numbers code points in the order of their coming.
type alphabet struct {
	ascii [utf8.RuneSelf]int32 // the number plus 1
	other map[rune]int32
	count int
}

// escaped is what a byte that is no UTF-8 is added to: its code point is in U+DC80 to
// U+DCFF, which UTF-8 cannot write.
const escaped = 0xDC00

func (n *alphabet) of(s string) []int32 {
	numbers := make([]int32, 0, len(s))
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			r = escaped + rune(s[0])
		}
		numbers = append(numbers, n.number(r))
		s = s[size:]
	}
	return numbers
}

func (n *alphabet) number(r rune) int32 {
	if r < utf8.RuneSelf {
		if n.ascii[r] == 0 {
			n.count++
			n.ascii[r] = int32(n.count)
		}
		return n.ascii[r] - 1
	}
	number, ok := n.other[r]
	if !ok {
		if n.other == nil {
			n.other = map[rune]int32{}
		}
		number = int32(n.count)
		n.other[r] = number
		n.count++
	}
	return number
}
