// Command asmgen writes the assembly of package vec with avo: kernels_amd64.s
// and the Go declarations beside it. Run it through go generate.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// set is an instruction set.
type set struct {
	// prefix starts the names of its functions.
	prefix string
	// lanes is the number of float32 in a register.
	lanes int
	// register allocates a vector register.
	register func() reg.VecVirtual
}

func main() {
	ConstraintExpr("!noasm")
	for _, s := range []set{{"avx512", 16, ZMM}, {"avx2", 8, YMM}} {
		s.linear()
		s.sums()
		s.exponentials()
		s.activations()
		s.norm()
		s.adamW()
	}
	Generate()
}

// wide is whether s has 512-bit registers and masks.
func (s set) wide() bool { return s.lanes == 16 }

// function starts a function of package vec.
func (s set) function(name, signature, doc string) {
	TEXT(s.prefix+name, 4 /* NOSPLIT */, signature)
	Doc(s.prefix + name + " is " + doc + ".")
	Pragma("noescape")
}

// end leaves the upper halves of the registers clean and returns.
func end() {
	VZEROUPPER()
	RET()
}
