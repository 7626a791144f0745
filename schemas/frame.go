package schemas

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A frame is one Arrow IPC stream with a head that lets a reader refuse it
// before any Arrow code sees it. Integers are little endian.
//
//	byte  0        4        5        6        8                16
//	      +--------+--------+--------+--------+----------------+
//	      | "MRCE" | format | zero   | version|  fingerprint   |
//	      |        | = 1    |        |   u16  |   8 bytes      |
//	      +--------+--------+--------+--------+----------------+
//	byte  16                20                24               32
//	      +-----------------+-----------------+----------------+
//	      | rows u32        | payload len u32 | xxhash64 u64   |
//	      +-----------------+-----------------+----------------+
//	byte  32
//	      +--------------------------------------------------------------+
//	      | schema message | record batch message | end of stream (8 B)  |
//	      +--------------------------------------------------------------+
//
// version is the schema's version and fingerprint the first 8 bytes of the
// SHA-256 of the schema message, so a reader knows at once whether it can read
// the payload. The hash is taken of bytes 0 to 24 followed by the payload. The
// payload ends the frame: a frame of another length than 32 + payload len is
// corrupt.
//
// docs/formats.md holds the same drawing; a change of either is a new format.
const (
	frameMagic  = "MRCE"
	frameFormat = 1
	frameHead   = 32
	// framePayloadMax bounds a payload to what an Arrow offset (int32) and the
	// length field can both tell.
	framePayloadMax = math.MaxInt32 - frameHead
)

// Frame is the opened head of a frame and its payload.
type Frame struct {
	// Version is the version of the schema.
	Version uint16
	// Fingerprint identifies the schema of the payload.
	Fingerprint [8]byte
	// Rows is the number of rows the payload must hold.
	Rows uint32
	// Payload is the Arrow IPC stream. It shares the memory of the frame.
	Payload []byte
}

// OpenFrame checks magic, format, length and checksum and returns the head and
// the payload, which shares the memory of b. It allocates nothing.
func OpenFrame(b []byte) (Frame, error) {
	if len(b) < frameHead {
		return Frame{}, corrupt("frame of %d bytes is shorter than its head of %d", len(b), frameHead)
	}
	if string(b[:4]) != frameMagic {
		return Frame{}, corrupt("frame begins with %q, not with %q", b[:4], frameMagic)
	}
	if b[4] != frameFormat || b[5] != 0 {
		return Frame{}, corrupt("frame format %d.%d is unknown, this build reads %d.0", b[4], b[5], frameFormat)
	}
	payload := b[frameHead:]
	if told := binary.LittleEndian.Uint32(b[20:]); uint64(told) != uint64(len(payload)) {
		return Frame{}, corrupt("frame tells a payload of %d bytes and holds %d", told, len(payload))
	}
	if told, is := binary.LittleEndian.Uint64(b[24:]), frameSum(b); told != is {
		return Frame{}, corrupt("frame checksum is %016x, its content has %016x", told, is)
	}
	f := Frame{
		Version: binary.LittleEndian.Uint16(b[6:]),
		Rows:    binary.LittleEndian.Uint32(b[16:]),
		Payload: payload,
	}
	copy(f.Fingerprint[:], b[8:16])
	return f, nil
}

// FrameLength tells from the first 24 bytes of a frame how long it is, so that a
// file of frames can be cut. It checks magic and format; OpenFrame checks all.
func FrameLength(head []byte) (int64, error) {
	if len(head) < 24 || string(head[:4]) != frameMagic || head[4] != frameFormat {
		return 0, corrupt("no frame begins here")
	}
	return frameHead + int64(binary.LittleEndian.Uint32(head[20:])), nil
}

// sealFrame fills in the head of b, whose payload is already in place.
func sealFrame(b []byte, version uint16, fingerprint [8]byte, rows int) error {
	if n := len(b) - frameHead; n > framePayloadMax {
		return fmt.Errorf("payload of %d bytes exceeds the largest frame of %d", n, framePayloadMax)
	}
	copy(b, frameMagic)
	b[4], b[5] = frameFormat, 0
	binary.LittleEndian.PutUint16(b[6:], version)
	copy(b[8:16], fingerprint[:])
	binary.LittleEndian.PutUint32(b[16:], uint32(rows))
	binary.LittleEndian.PutUint32(b[20:], uint32(len(b)-frameHead))
	binary.LittleEndian.PutUint64(b[24:], frameSum(b))
	return nil
}

// frameSum is the hash of the frame b without the field that holds it.
func frameSum(b []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(b[:24])
	_, _ = d.Write(b[frameHead:])
	return d.Sum64()
}
