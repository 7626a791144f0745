//go:build !linux || !(amd64 || arm64)

package cuda

import (
	"errors"
	"unsafe"
)

func load(string) (*library, error) {
	return nil, errors.New("CUDA is used on 64-bit Linux alone")
}

// invoke has nothing to call: no library was loaded.
func invoke(uintptr, unsafe.Pointer) { panic("cuda: no library is loaded") }
