package inside

import "golang.org/x/sys/unix"

// denied are the system calls that a build or a test never needs and that have
// been the way into kernels: they fail with EPERM.
var denied = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
	unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}

// Offsets into struct seccomp_data (linux/seccomp.h); the arguments are little
// endian on every architecture in [auditArch].
const (
	offsetNumber    = 0
	offsetArch      = 4
	offsetArgument0 = 16
)

// filter returns the BPF program: kill a foreign architecture, deny the calls
// above, deny clone with a new user namespace, answer clone3 with ENOSYS (its
// flags lie in memory that a filter cannot read; C libraries fall back to
// clone), allow the rest.
func filter() []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	// jump skips the next instruction unless the comparison holds.
	jump := func(op uint16, value uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: value, Jf: 1}
	}
	answer := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	refuse := answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	program := []unix.SockFilter{
		load(offsetArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: auditArch, Jt: 1},
		answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNumber),
		// The x32 calls of amd64 are the same calls under other numbers.
		jump(unix.BPF_JGE, x32Bit),
		answer(unix.SECCOMP_RET_KILL_PROCESS),
		jump(unix.BPF_JEQ, unix.SYS_CLONE3),
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
	}
	for _, number := range denied {
		program = append(program, jump(unix.BPF_JEQ, number), refuse)
	}
	return append(program,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLONE, Jf: 3},
		load(offsetArgument0),
		jump(unix.BPF_JSET, unix.CLONE_NEWUSER),
		refuse,
		answer(unix.SECCOMP_RET_ALLOW),
	)
}

// x32Bit marks a system call number of amd64's x32 interface.
const x32Bit = 0x40000000
