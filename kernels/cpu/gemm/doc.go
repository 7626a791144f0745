// Package gemm multiplies row-major float32 matrices:
//
//	C = op(A) op(B)          accumulate == false
//	C = C + op(A) op(B)      accumulate == true
//
// with op(A) of m x k, op(B) of k x n and C of m x n. op transposes when the
// flag says so: an A stored k x m, a B stored n x k.
//
// # Reduction order
//
// The k products of an element are summed in blocks of 512 consecutive terms.
// Inside a block one accumulator starts at zero and takes the terms in
// ascending order; the block sums are then added to the element in ascending
// order, starting from C when accumulating:
//
//	for each block q: s[q] = fold p in q: s = s + A[i,p]*B[p,j]
//	C[i,j] = (((C[i,j]) + s[0]) + s[1]) + ...
//
// Invariant: an element depends on its row of op(A), its column of op(B), k and
// (when accumulating) its old value; not on m, n, its place in a tile, the
// strides, packing ahead, or the number of threads. So a row computed alone and
// the same row in a batch of 64 have the same bits.
//
// The AVX-512 and AVX2 variants fuse the multiply and the add, with one
// rounding a term, and give the same bits as each other. The portable variant
// rounds the product and the sum, on every architecture.
//
// # How
//
// The method is Goto's (Goto & van de Geijn 2008, "Anatomy of high-performance
// matrix multiplication"). B is copied into panels as wide as a tile of C that
// fits the registers; a tile takes a strip of as many rows of A as it is high, a
// panel, and at most 512 terms. Two things differ. A is read where it is, since a
// tile's few streams of it are adjacent elements; only a transposed A is packed.
// And there is a tile for each number of rows, so that a batch of 13 is not paid
// for as 24.
//
// # What is not here
//
// Scaling by alpha and beta, both operands transposed, other types.
package gemm
