//go:build !noasm

package gemm

// prefetchRows asks for rows of cols elements, stride apart, in the second-level
// cache. rows and cols are at least 1.
//
//go:noescape
func prefetchRows(p *float32, stride, rows, cols int)
