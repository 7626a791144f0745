// Package numpy draws the random numbers of NumPy, bit for bit: the ones that
// published environments and data sets were made with.
//
// What always holds: a [Generator] of a seed gives what
// numpy.random.Generator(numpy.random.PCG64(seed)) gives, draw for draw, and a
// [Legacy] what numpy.random.seed(seed) and the functions of numpy.random give.
// Only the distributions that are used here exist. testdata holds what NumPy
// itself drew, and the script that asked it.
//
// Nothing here is for new purposes: math/rand/v2 is.
package numpy
