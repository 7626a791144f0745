//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// load opens the library, and checks its version before anything else is called.
func load(path string) (*library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	versionAt, err := purego.Dlsym(handle, "mr_abi_version")
	if err != nil {
		return nil, fmt.Errorf("this is not Millrace's library: %w", err)
	}
	var version func() int32
	purego.RegisterFunc(&version, versionAt)
	if err := checkVersion(version()); err != nil {
		return nil, err
	}
	l := &library{path: path}
	for name, at := range l.functions() {
		if *at, err = purego.Dlsym(handle, name); err != nil {
			return nil, err
		}
	}
	layoutAt, err := purego.Dlsym(handle, "mr_layout")
	if err != nil {
		return nil, err
	}
	purego.RegisterFunc(&l.layout, layoutAt)
	return l, nil
}

// invoke calls a function with the address of its struct, which must not move: the
// caller has pinned it and what it points to.
func invoke(function uintptr, argument unsafe.Pointer) {
	purego.SyscallN(function, uintptr(argument))
}
