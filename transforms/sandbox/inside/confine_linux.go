package inside

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confine takes from this thread, and so from whatever it starts, every
// capability, the way to new ones, and the system calls in [denied]; and sets
// the limits. Init keeps the capabilities it holds: only what it starts loses
// them.
func confine(l Limits) error {
	for _, r := range []struct {
		name     string
		resource int
		limit    uint64
	}{
		{"address space", unix.RLIMIT_AS, l.AddressSpace},
		{"data", unix.RLIMIT_DATA, l.Data},
		{"CPU seconds", unix.RLIMIT_CPU, l.CPUSeconds},
		{"file size", unix.RLIMIT_FSIZE, l.FileBytes},
		{"open files", unix.RLIMIT_NOFILE, l.OpenFiles},
		{"processes", unix.RLIMIT_NPROC, l.Processes},
		{"core size", unix.RLIMIT_CORE, 0},
	} {
		var old unix.Rlimit
		if err := unix.Getrlimit(r.resource, &old); err != nil {
			return step("reading the limit of "+r.name, err)
		}
		limit := min(r.limit, old.Max)
		if err := unix.Prlimit(os.Getpid(), r.resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			return step("setting the limit of "+r.name, err)
		}
	}
	// Without a bounding set, exec by user 0 gives no capability.
	for c := uintptr(0); ; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // one past the kernel's last capability
		} else if err != nil {
			return step("dropping capabilities", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return step("setting no_new_privs", err)
	}
	filter := filter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	return step("installing the system call filter", err)
}
