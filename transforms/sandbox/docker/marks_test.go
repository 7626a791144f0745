package docker

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// FuzzMarks: however the stream is cut, and whatever the output holds, the
// output is what stands between the marks.
func FuzzMarks(f *testing.F) {
	f.Add([]byte("stale"), []byte("hello\n"), uint8(3), int64(1))
	f.Add([]byte("\x1eabc+"), []byte("\x1eabc-12x\x1eabc-\x1eabc-9999999999\x1e"), uint8(137), int64(2))
	f.Add([]byte{}, []byte("\x1e\x1eabc\x1eabc-"), uint8(0), int64(3))
	f.Fuzz(func(t *testing.T, stale, output []byte, status uint8, seed int64) {
		const nonce = "abc"
		m := newMarks(nonce, nil)
		end := append(m.end(), []byte{'0' + status/100, '0' + status/10%10, '0' + status%10, markByte}...)
		// A status, or the start mark, inside of the text is the one thing that
		// the nonce rules out.
		if bytes.Contains(stale, m.start()) || forged(append(bytes.Clone(output), end...), m.end()) != len(output) {
			t.Skip()
		}
		var got bytes.Buffer
		m = newMarks(nonce, &got)
		stream := bytes.Join([][]byte{stale, m.start(), output, end, []byte("late")}, nil)
		if i := bytes.Index(stream, m.start()); i != len(stale) {
			t.Skip()
		}
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		for len(stream) > 0 {
			n := 1 + r.IntN(len(stream))
			if k, err := m.Write(stream[:n]); k != n || err != nil {
				t.Fatalf("Write of %d bytes returned %d, %v", n, k, err)
			}
			stream = stream[n:]
		}
		if !m.done || m.status != int(status) || !bytes.Equal(got.Bytes(), output) {
			t.Errorf("done %t, status %d, output %q; want %d, %q", m.done, m.status, got.Bytes(), status, output)
		}
	})
}

// forged is where the first well-formed end mark of data begins.
func forged(data, end []byte) int {
	for from := 0; ; {
		i := bytes.Index(data[from:], end)
		if i < 0 {
			return -1
		}
		rest := data[from+i+len(end):]
		j := bytes.IndexByte(rest, markByte)
		if j > 0 && j <= maxStatus && digits(rest[:j]) {
			return from + i
		}
		from += i + len(end)
	}
}

func digits(b []byte) bool {
	if len(b) > 1 && (b[0] == '+' || b[0] == '-') {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
