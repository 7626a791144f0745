package schemas

// body is the record batch of a frame under way: columns append to it, depth
// first, as the Arrow IPC format orders them. A column is a node and its
// buffers: one for validity, which is always empty, then those of its type. A
// buffer is padded to 8 bytes.
//
// Arrow's own builders and writer make an object for every column, array and
// buffer of every batch, which costs more than the bytes of a short trajectory.
type body struct {
	out     []byte
	start   int // of the batch's body in out
	nodes   []int
	buffers []span
}

// span is where a buffer lies in the body.
type span struct{ offset, length int }

// node begins a column of n elements.
func (b *body) node(n int) {
	b.nodes = append(b.nodes, n)
	b.end(len(b.out))
}

// end closes the buffer that began at the given length of out.
func (b *body) end(from int) {
	b.buffers = append(b.buffers, span{from - b.start, len(b.out) - from})
	for (len(b.out)-b.start)%8 != 0 {
		b.out = append(b.out, 0)
	}
}

// buffer is a buffer of what add appends.
func (b *body) buffer(add func(out []byte) []byte) {
	from := len(b.out)
	b.out = add(b.out)
	b.end(from)
}

// offsets is the buffer of the n+1 offsets of n elements of the given lengths; it
// returns their sum.
func (b *body) offsets(n int, length func(int) int) int {
	from, last := len(b.out), 0
	b.out = little.AppendUint32(b.out, 0)
	for i := range n {
		last += length(i)
		b.out = little.AppendUint32(b.out, uint32(last))
	}
	b.end(from)
	return last
}

// bits is a column of booleans.
func (b *body) bits(values []bool) {
	b.node(len(values))
	b.buffer(func(out []byte) []byte { return appendBits(out, values) })
}
