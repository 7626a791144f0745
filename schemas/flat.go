package schemas

import "encoding/binary"

// flat reads a FlatBuffer with every access inside its bounds. The generated
// readers in arrow trust the offsets they find; this one is given bytes that
// anyone may have written. The first access outside sets bad, and every access
// from then on returns 0.
//
// Format: https://flatbuffers.dev/internals/. A table begins with the signed
// distance back to its vtable; a vtable holds its own size, the table's size
// and one u16 offset a field, 0 where the field has its default.
type flat struct {
	b   []byte
	bad bool
}

func (f *flat) bytes(at, n int) []byte {
	if f.bad || at < 0 || at > len(f.b) || n > len(f.b)-at {
		f.bad = true
		return make([]byte, 8)
	}
	return f.b[at : at+n]
}

func (f *flat) u8(at int) uint8   { return f.bytes(at, 1)[0] }
func (f *flat) u16(at int) uint16 { return binary.LittleEndian.Uint16(f.bytes(at, 2)) }
func (f *flat) u32(at int) uint32 { return binary.LittleEndian.Uint32(f.bytes(at, 4)) }
func (f *flat) i64(at int) int64  { return int64(binary.LittleEndian.Uint64(f.bytes(at, 8))) }

// follow returns the position that the unsigned offset at at points to.
func (f *flat) follow(at int) int { return at + int(f.u32(at)) }

// field returns the position of a table's field, and false if the field is
// absent.
func (f *flat) field(table, slot int) (int, bool) {
	vtable := table - int(int32(f.u32(table)))
	entry := 4 + 2*slot
	if entry+2 > int(f.u16(vtable)) {
		return 0, false
	}
	offset := int(f.u16(vtable + entry))
	return table + offset, offset != 0 && !f.bad
}

// vector returns the position of the first element of a vector of structs of
// the given size, and their number; all of them are inside.
func (f *flat) vector(at, size int) (first, n int) {
	start := f.follow(at)
	n = int(f.u32(start))
	if n > len(f.b)/size {
		f.bad = true
		return 0, 0
	}
	f.bytes(start+4, n*size)
	return start + 4, n
}
