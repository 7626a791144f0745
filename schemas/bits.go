package schemas

// appendBits appends booleans as Arrow has them: the first in the lowest bit.
func appendBits(out []byte, values []bool) []byte {
	for ; len(values) >= 8; values = values[8:] {
		v := (*[8]bool)(values)
		out = append(out, bit(v[0])|bit(v[1])<<1|bit(v[2])<<2|bit(v[3])<<3|bit(v[4])<<4|bit(v[5])<<5|bit(v[6])<<6|bit(v[7])<<7)
	}
	if len(values) > 0 {
		var last byte
		for k, v := range values {
			last |= bit(v) << k
		}
		out = append(out, last)
	}
	return out
}

func bit(v bool) byte {
	if v { // compiles to a move
		return 1
	}
	return 0
}

// eights are the booleans of each byte.
var eights = func() (table [256][8]bool) {
	for b := range table {
		for k := range 8 {
			table[b][k] = b>>k&1 != 0
		}
	}
	return table
}()

// readBits sets values from the bits that begin at bit beg.
func readBits(values []bool, bits []byte, beg int) {
	i := 0
	for ; i < len(values) && (beg+i)%8 != 0; i++ {
		values[i] = eights[bits[(beg+i)/8]][(beg+i)%8]
	}
	for ; len(values)-i >= 8; i += 8 {
		*(*[8]bool)(values[i:]) = eights[bits[(beg+i)/8]]
	}
	for ; i < len(values); i++ {
		values[i] = eights[bits[(beg+i)/8]][(beg+i)%8]
	}
}
