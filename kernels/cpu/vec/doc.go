// Package vec holds the row and elementwise loops of a transformer, forward and
// backward, on float32 slices.
//
// The doc comment of each function is the loop it stands for. The portable Go
// version is that loop; the AVX-512 and AVX2 versions are held to it by the same
// tests. Slices that belong together must have the same length, else the
// function panics. A result may be the very slice of an input, but must not
// overlap one in part. All functions are safe for concurrent use on different
// results, and none allocates.
//
// # Reduction order
//
// A sum over a row is made of 64 lanes: lane l takes the elements l, l+64,
// l+128, ... in ascending order, and then the lanes are added pairwise, the upper
// half onto the lower, until one is left. [SumSquares] has an order of its own.
//
// Invariant: a result depends on the values and the length, not on alignment or
// on what else runs; and the AVX-512 and AVX2 versions give the same bits as each
// other. The portable version rounds each product where they fuse it into the
// sum, and takes exp from package math.
package vec
