package embedded

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// maxDescriptors bounds the search for a socket among this process's
// descriptors.
const maxDescriptors = 4096

// toLoopback makes this process's socket that listens on port reachable from
// this machine only. The kernel compares the device a connection comes in on
// with the one the socket is bound to, so nothing in the socket's owner needs
// to change; connections from this machine to any of its addresses come in on
// the loopback device too.
func toLoopback(port int) error {
	for fd := 3; fd < maxDescriptors; fd++ {
		name, err := unix.Getsockname(fd)
		if err != nil {
			continue // closed, or no socket
		}
		if listening, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listening == 0 {
			continue
		}
		var bound int
		switch a := name.(type) {
		case *unix.SockaddrInet4:
			bound = a.Port
		case *unix.SockaddrInet6:
			bound = a.Port
		}
		if bound != port {
			continue
		}
		if err := unix.BindToDevice(fd, "lo"); err != nil {
			return fmt.Errorf("restricting port %d to this machine: %w", port, err)
		}
		return nil
	}
	return fmt.Errorf("restricting port %d to this machine: no such socket in this process", port)
}
