package tokenizer

import "unicode/utf8"

// byteRunes is GPT-2's alphabet: the printable character that stands for each
// byte in tokenizer.json. Printable Latin-1 bytes stand for themselves, the other
// 68 for U+0100 and up in order of the byte (Radford et al. 2019,
// bytes_to_unicode in openai/gpt-2 src/encoder.py).
//
// runeBytes is its inverse, -1 where no byte maps.
var byteRunes, runeBytes = alphabet()

func alphabet() (runes [256]rune, bytes [256 + 68]int16) {
	for i := range bytes {
		bytes[i] = -1
	}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE) {
			r = next
			next++
		}
		runes[b] = r
		bytes[r] = int16(b)
	}
	return runes, bytes
}

// alphabetOrder lists the 256 bytes in the order of their characters, which is
// the order of the first 256 ids in the GPT-2 and Qwen vocabularies.
func alphabetOrder() []byte {
	order := make([]byte, 0, 256)
	for _, b := range runeBytes {
		if b >= 0 {
			order = append(order, byte(b))
		}
	}
	return order
}

// spell writes bytes in the alphabet.
func spell(bytes string) string {
	out := make([]byte, 0, len(bytes)+8)
	for i := range len(bytes) {
		out = utf8.AppendRune(out, byteRunes[bytes[i]])
	}
	return string(out)
}

// unspell reads bytes back from the alphabet; ok is false when a character is
// not in it.
func unspell(token string) (bytes string, ok bool) {
	out := make([]byte, 0, len(token))
	for _, r := range token {
		if r >= rune(len(runeBytes)) || runeBytes[r] < 0 {
			return "", false
		}
		out = append(out, byte(runeBytes[r]))
	}
	return string(out), true
}
