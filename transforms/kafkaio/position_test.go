package kafkaio

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestPositionText(t *testing.T) {
	for text, want := range map[string]Position{
		"committed": Committed, "earliest": Earliest, "latest": Latest,
		"0": At(0), "42": At(42), "9223372036854775807": At(math.MaxInt64),
	} {
		got, err := ParsePosition(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("ParsePosition(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "+1", "01", "1.0", "Latest", " 1", "1 ", "9223372036854775808", "0x10"} {
		_, err := ParsePosition(text)
		if err == nil || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("ParsePosition(%q): %v; want an error that quotes it", text, err)
		}
	}
	var zero Position
	if zero != Committed {
		t.Errorf("the zero value is %v, not committed", zero)
	}
}

func TestPositionSurvivesThePlan(t *testing.T) {
	end := Latest
	in := Source{Topic: "t", From: At(7), To: &end}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Source
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if out.From != At(7) || out.To == nil || *out.To != Latest {
		t.Errorf("%s came back as %+v", text, out)
	}
}

func TestPositionResolve(t *testing.T) {
	// A log that holds [10, 20), of which the group has committed 15.
	log := bounds{first: 10, last: 20, committed: 15}
	for _, c := range []struct {
		position Position
		in       bounds
		want     int64
	}{
		{Earliest, log, 10},
		{Latest, log, 20},
		{Committed, log, 15},
		{Committed, bounds{first: 10, last: 20, committed: -1}, 10}, // nothing committed: earliest
		{Committed, bounds{first: 0, last: 5, committed: 0}, 0},     // 0 is a commit, not its absence
		{At(10), log, 10},
		{At(20), log, 20}, // the end is a position: the next record to come
	} {
		got, err := c.position.resolve(c.in)
		if err != nil || got != c.want {
			t.Errorf("%v in %+v = %d, %v; want %d", c.position, c.in, got, err, c.want)
		}
	}
	for _, c := range []struct {
		position Position
		in       bounds
	}{
		{At(9), log},  // deleted
		{At(21), log}, // not written: the log was lost and begun anew
		{Committed, bounds{first: 16, last: 20, committed: 15}},
		{Committed, bounds{first: 0, last: 3, committed: 15}},
	} {
		if got, err := c.position.resolve(c.in); !errors.Is(err, ErrOffsetOutOfRange) {
			t.Errorf("%v in %+v = %d, %v; want out of range", c.position, c.in, got, err)
		}
	}
}

// FuzzPosition: a text is either refused or comes back letter for letter, and
// what it resolves to lies in the log and grows with the number.
func FuzzPosition(f *testing.F) {
	for _, seed := range []string{"committed", "earliest", "latest", "0", "7", "007", "-3", "9223372036854775807", "99999999999999999999", "é", "1e3"} {
		f.Add(seed, int64(3), int64(9))
	}
	f.Fuzz(func(t *testing.T, text string, first, length int64) {
		p, err := ParsePosition(text)
		if err != nil {
			return
		}
		if p.String() != text {
			t.Fatalf("%q became %q", text, p.String())
		}
		first &= 1<<40 - 1
		length &= 1<<20 - 1
		b := bounds{first: first, last: first + length, committed: first + length/2}
		offset, err := p.resolve(b)
		if err == nil && (offset < b.first || offset > b.last) {
			t.Fatalf("%q resolved to %d outside of %+v", text, offset, b)
		}
		if err != nil && p.symbol != numeric {
			t.Fatalf("%q has no place in %+v: %v", text, b, err)
		}
	})
}
