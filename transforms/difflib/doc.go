// Package difflib compares texts as the module of that name in CPython does, to the
// bit, and faster.
//
// What must always be true:
//   - [Ratio] is SequenceMatcher(None, a, b, autojunk=False).ratio(), and [Hunks] is
//     what unified_diff(a, b, lineterm="") writes behind its two heads. Rewards are
//     made of both (SWE-RL), so a number that differs in the last bit is a defect.
//   - A comparison is a function of its two texts. What stops it early is the caller's
//     context, which says nothing about the texts, or [MaxElements] and [MaxWork],
//     which count and do not measure time: replayed elsewhere, the same comparisons
//     are refused.
//
// # The matching
//
// CPython's matching (Ratcliff and Obershelp's, as in Lib/difflib.py) is a recursion:
// the longest substring that two windows have in common, of several the one that starts
// first in a, and of these the one that starts first in b; then the same to its left
// and to its right. CPython finds it in the product of the windows' lengths.
//
// Here equal substrings of 1, 2, 4, 8, ... elements have names, given once for the
// whole of a and b (see [grams]; the naming is Karp, Miller and Rosenberg's, STOC
// 1972). The largest power of two with a name in both windows bounds the length that is
// sought within a factor of two, and a bisection on pairs of names, since two names
// that overlap name any length between, finds it. A find thus takes the sum of the
// windows' lengths times the logarithm of the longest match.
package difflib
