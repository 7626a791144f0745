package gemm

// variant is one implementation of the inner loops. All its functions trust
// their arguments: the callers have checked every slice.
type variant struct {
	// name is what Kernel returns.
	name string
	// height and width are the largest tile: rows of C and columns of C held in
	// registers. width is also the width of a panel of B.
	height, width int
	// tiles[r] computes a tile of r rows, 1 <= r <= height.
	tiles []tileFunc
	// copyRows and transpose fill a panel; see copyRowsPortable and
	// transposePortable.
	copyRows, transpose packFunc
	// copyStrips packs stripGroup full strips of a transposed A at once.
	copyStrips stripsFunc
}

// A tileFunc computes rows x cols elements of C, cols <= width, over k terms:
//
//	s[i][j] = fold p in 0..k-1: s + a[i*aRow+p*aCol] * b[p*bRow+j]
//	c[i*cRow+j] = s[i][j]                 first
//	c[i*cRow+j] = c[i*cRow+j] + s[i][j]   otherwise
//
// It reads width columns of b whatever cols is, and touches no other element of
// c. k >= 1.
type tileFunc func(k int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow, cols int, first bool)

// A packFunc writes k rows of a panel, each stride elements after the one
// before, from source elements that lie ld apart in the one direction and
// adjacent in the other. Elements from cols to stride are set to zero.
type packFunc func(dst *float32, stride int, src *float32, ld, k, cols int)

// stripGroup is the number of strips that a stripsFunc packs: it reads whole
// lines of memory where one strip would read parts.
const stripGroup = 4

// A stripsFunc packs stripGroup strips, strip elements apart, of k terms with
// height rows each:
//
//	dst[s*strip+p*height+i] = src[p*ld+s*height+i]    s < stripGroup, i < height
type stripsFunc func(dst *float32, strip int, src *float32, ld, k int)

// active is the variant that Gemm uses: the fastest the processor supports.
var active = variants()[0]
