package advantage

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

// neighbours are n ids of groups that share a bucket.
func neighbours(n int) []string {
	byBucket := map[int64][]string{}
	for i := 0; ; i++ {
		id := fmt.Sprint("g", i)
		b := bucketOf(id)
		if byBucket[b] = append(byBucket[b], id); len(byBucket[b]) == n {
			return byBucket[b]
		}
	}
}

// TestNeighboursDoNotMeet: groups that share a bucket close as if they did not:
// complete, at their own time limits, and at the end of the input.
func TestNeighboursDoNotMeet(t *testing.T) {
	ids := neighbours(3)
	a, b, c := ids[0], ids[1], ids[2]
	got := play(t, streaming(), []string{
		"member " + a + " 0 2 0", "member " + b + " 0 2 1", "-> 1", "member " + c + " 0 3 1", "member " + a + " 1 2 1",
		"-> 3", // b's limit was at 2
		"member " + b + " 1 2 1", "member " + a + " 1 2 1",
		"member " + c + " 1 3 0", // c's limit was at 3
		"-> 12", "member " + a + " 0 2 0",
	},
		a+"#0.0 -1 (2/2) "+a+"#1.0 +1 (2/2) 2 sources",
		b+"#0.0 +0 (1/2) 1 sources",
		c+"#0.0 +0 (1/3) 1 sources",
		"late "+b+"#1.0 1 sources",
		"late "+c+"#1.0 1 sources",
		"1 sources",
	)
	if got["groups"] != 3 || got["groups_short"] != 2 || got["repeats"] != 1 || got["left_open"] != 1 {
		t.Errorf("counters %v", got)
	}
	// Those that complete, are short or are refused together.
	play(t, streaming(), []string{
		"member " + a + " 0 2 0; member " + b + " 0 2 1; member " + c + " 0 3 1",
		"member " + a + " 1 2 1; member " + b + " 1 2 0; member " + c + " 1 3 0; member " + b + " 1 2 1", "-> 3",
	},
		a+"#0.0 -1 (2/2) "+a+"#1.0 +1 (2/2) 2 sources",
		b+"#0.0 +1 (2/2) "+b+"#1.0 -1 (2/2) 2 sources",
		"duplicate "+b+"#1.0 1 sources",
		c+"#0.0 +1 (2/3) "+c+"#1.0 -1 (2/3) 2 sources",
	)
	play(t, streaming(), []string{"member " + a + " 0 2 0; member " + b + " 0 2 1", "-> 3"},
		a+"#0.0 +0 (1/2) 1 sources",
		b+"#0.0 +0 (1/2) 1 sources",
	)
	end := streaming()
	end.CloseAtEnd = true
	play(t, end, []string{"member " + a + " 0 2 0", "-> 1", "member " + b + " 0 2 1", "member " + b + " 1 2 0", "member " + c + " 2 3 1"},
		a+"#0.0 +0 (1/2) 1 sources",
		b+"#0.0 +1 (2/2) "+b+"#1.0 -1 (2/2) 2 sources",
		c+"#2.0 +0 (1/3) 1 sources",
	)
}

// TestBucketForgetsTheOldest: open groups are never forgotten, of the closed the
// newest are remembered.
func TestBucketForgetsTheOldest(t *testing.T) {
	var b bucket
	for i := range 3 * remembered {
		b.put(entry{ID: fmt.Sprint("open", i), Due: int64(i)})
		b.put(entry{ID: fmt.Sprint("closed", i), Group: Group{Closed: true}, Due: int64(1000 - i)})
	}
	if len(b.groups) != 4*remembered {
		t.Errorf("%d groups", len(b.groups))
	}
	for i := range 3 * remembered {
		if b.index(fmt.Sprint("open", i)) < 0 {
			t.Errorf("open group %d is forgotten", i)
		}
		if known := b.index(fmt.Sprint("closed", i)) >= 0; known != (i < remembered) {
			t.Errorf("closed group %d, due at %d: known is %v", i, 1000-i, known)
		}
	}
	b.forget(1000 - remembered + 1)
	if b.index(fmt.Sprint("closed", remembered-1)) >= 0 || b.index("closed0") < 0 || b.index("open0") < 0 {
		t.Error("not exactly what was due is forgotten")
	}
	if due, some := b.due(); due != 0 || !some {
		t.Errorf("due %d, %v", due, some)
	}
	if out := b.take(1); len(out) != 2 || out[0].ID != "open0" || b.index("open1") >= 0 || b.index("open2") < 0 {
		t.Errorf("took %v", out)
	}
	b.put(entry{ID: "open2", Group: Group{Closed: true}, Due: 2000})
	if e := b.groups[b.index("open2")]; !e.Closed || e.Due != 2000 {
		t.Errorf("a group that was put again is %+v", e)
	}
}

func TestBucketRoundTrip(t *testing.T) {
	want := bucket{[]entry{
		{ID: "run/0/a", Group: Group{Size: 8, Entries: []Entry{{7, 1 << 63}, {0, 0}}}, Due: 1 << 41},
		{ID: "run/1/b", Group: Group{Size: 1, Entries: []Entry{{0, 5}}, Closed: true}, Due: 1},
	}}
	got, err := decodeBucket(want.encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bucket{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// FuzzDecodeBucket: no input panics or takes more memory than a multiple of
// itself; what is accepted encodes to bytes that decode to the same.
func FuzzDecodeBucket(f *testing.F) {
	b := bucket{[]entry{{ID: "a", Group: Group{Size: 2, Entries: []Entry{{1, 9}}}, Due: 3}, {ID: "b", Group: Group{Size: 1, Closed: true}, Due: 4}}}
	f.Add(b.encode())
	f.Add(b.encode()[:5])
	f.Add([]byte{1, 'a', 2, 0, 3, 0xff, 0xff, 0xff, 0xff, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decodeBucket(data)
		if err != nil {
			if !errors.Is(err, schemas.ErrCorrupt) {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		again := b.encode()
		if b2, err := decodeBucket(again); err != nil || !bytes.Equal(b2.encode(), again) {
			t.Fatalf("encoding is not stable: %v", err)
		}
	})
}
