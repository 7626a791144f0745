// Package gomodule looks at the files of a Go module as data: which packages it has,
// which of them a change can reach, where its tests are, and what of it an agent may
// see. Nothing of the module is executed.
//
// What must always be true of a [Module]:
//   - its files are regular, UTF-8 and sorted by path, and go.mod is among them;
//   - nothing of version control, no hidden directory and no other module is in it;
//   - with dependencies outside of the standard library it holds them below vendor,
//     so that its tests run without a network.
package gomodule
