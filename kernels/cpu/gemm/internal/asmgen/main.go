// Command asmgen writes the assembly of package gemm with avo: kernels_amd64.s
// and the Go declarations beside it. Run it through go generate.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// set is an instruction set: what differs between the variants.
type set struct {
	// prefix starts the names of its functions.
	prefix string
	// lanes is the number of float32 in a register, height the rows of the
	// largest tile. A tile is two registers wide, so height rows need 2*height
	// sums, two registers of B and one of A.
	lanes, height int
	// register allocates a vector register.
	register func() reg.VecVirtual
}

// Of 32 registers 12 x 2 are sums, of 16 registers 6 x 2.
var (
	avx512 = set{prefix: "avx512", lanes: 16, height: 12, register: ZMM}
	avx2   = set{prefix: "avx2", lanes: 8, height: 6, register: YMM}
)

func main() {
	ConstraintExpr("!noasm")
	maskTable()
	for _, s := range []set{avx512, avx2} {
		for rows := 1; rows <= s.height; rows++ {
			s.tile(rows)
		}
		s.copyRows()
		s.copyStrips()
		s.transpose()
	}
	Generate()
}

// bytes loads an integer parameter that counts float32 and makes it count bytes.
func bytes(name string) reg.Register {
	r := Load(Param(name), GP64())
	SHLQ(U8(2), r)
	return r
}
