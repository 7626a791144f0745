package advantage

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"millrace/schemas"
)

const (
	// buckets is the number of keys that the groups of a stage are spread over. A
	// runner may keep something of every key it has ever seen for as long as the
	// job runs (Prism does: some 200 bytes), and a stream has new groups for ever.
	// So the key is a bucket, of which there are few enough to keep, and enough
	// that open groups hardly ever share one.
	buckets = 4096
	// remembered bounds the closed groups of one bucket: 64 Ki of all together, in
	// less than 10 MB with 8 members each.
	remembered = 16
)

func bucketOf(groupID string) int64 { return int64(xxhash.Sum64String(groupID) % buckets) }

// bucket is what is kept of the groups of one key beside their drafts: those
// that are open, and the newest of those that have closed. It has no clock and
// does no I/O.
type bucket struct {
	groups []entry
}

// entry is one group of a bucket.
type entry struct {
	ID string
	Group
	// Due is when its time is over, in Unix milliseconds: the time limit of an open
	// group, the end of the memory of a closed one.
	Due int64
}

// index is the place of a group, -1 if it is not known.
func (b *bucket) index(id string) int {
	return slices.IndexFunc(b.groups, func(e entry) bool { return e.ID == id })
}

// due is when the first of the open groups is due; false if there is none.
func (b *bucket) due() (first int64, some bool) {
	for _, e := range b.groups {
		if !e.Closed && (!some || e.Due < first) {
			first, some = e.Due, true
		}
	}
	return first, some
}

// forget drops the closed groups whose memory is over at a time.
func (b *bucket) forget(at int64) {
	b.groups = slices.DeleteFunc(b.groups, func(e entry) bool { return e.Closed && e.Due <= at })
}

// put enters a group, or what became of it, and forgets the closed groups due
// first while there are more than are remembered.
func (b *bucket) put(e entry) {
	if i := b.index(e.ID); i >= 0 {
		b.groups[i] = e
	} else {
		b.groups = append(b.groups, e)
	}
	for {
		closed, first := 0, -1
		for i, e := range b.groups {
			if !e.Closed {
				continue
			}
			if closed++; first < 0 || e.Due < b.groups[first].Due {
				first = i
			}
		}
		if closed <= remembered {
			return
		}
		b.groups = slices.Delete(b.groups, first, first+1)
	}
}

// take removes and returns the open groups that are due at a time, in the order
// of their ids.
func (b *bucket) take(at int64) []entry {
	var out []entry
	b.groups = slices.DeleteFunc(b.groups, func(e entry) bool {
		if !e.Closed && e.Due <= at {
			out = append(out, e)
			return true
		}
		return false
	})
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// An encoded bucket is its groups, one behind the other:
//
//	length of id | id | size | closed, 0 or 1 | due | entries | entries x ( rollout | digest, 8 bytes )
//
// with numbers as varints but for the digest.
func (b *bucket) encode() []byte {
	var out []byte
	for _, e := range b.groups {
		out = binary.AppendUvarint(out, uint64(len(e.ID)))
		out = append(out, e.ID...)
		out = binary.AppendUvarint(out, uint64(e.Size))
		closed := byte(0)
		if e.Closed {
			closed = 1
		}
		out = append(out, closed)
		out = binary.AppendUvarint(out, uint64(e.Due))
		out = binary.AppendUvarint(out, uint64(len(e.Entries)))
		for _, m := range e.Entries {
			out = binary.AppendUvarint(out, uint64(m.Rollout))
			out = binary.LittleEndian.AppendUint64(out, m.Digest)
		}
	}
	return out
}

func decodeBucket(data []byte) (bucket, error) {
	r := cut{rest: data}
	var b bucket
	for len(r.rest) > 0 && !r.bad {
		e := entry{ID: string(r.bytes(r.number(math.MaxInt32)))}
		e.Size = int32(r.number(math.MaxInt32))
		e.Closed = r.number(1) == 1
		e.Due = int64(r.number(math.MaxInt64))
		n := r.number(uint64(len(r.rest) / 9)) // an entry takes 9 bytes at least
		for range n {
			m := Entry{Rollout: int32(r.number(math.MaxInt32))}
			if digest := r.bytes(8); digest != nil {
				m.Digest = binary.LittleEndian.Uint64(digest)
			}
			e.Entries = append(e.Entries, m)
		}
		b.groups = append(b.groups, e)
	}
	if r.bad {
		return bucket{}, fmt.Errorf("decoding the groups of a bucket of %d bytes: %w", len(data), schemas.ErrCorrupt)
	}
	return b, nil
}

// cut takes bytes apart. bad says that there were not enough of them, or that a
// number was too large; from then on it gives zeros.
type cut struct {
	rest []byte
	bad  bool
}

func (c *cut) number(most uint64) uint64 {
	n, k := binary.Uvarint(c.rest)
	if c.bad || k <= 0 || n > most {
		c.bad = true
		return 0
	}
	c.rest = c.rest[k:]
	return n
}

func (c *cut) bytes(n uint64) []byte {
	if c.bad || n > uint64(len(c.rest)) {
		c.bad = true
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}
