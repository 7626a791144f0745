//go:build !amd64 || noasm

package gemm

// prefetchRows does nothing: there is no portable way to ask for memory early.
func prefetchRows(p *float32, stride, rows, cols int) {}
