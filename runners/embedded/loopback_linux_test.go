package embedded

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestListenerIsBoundToLoopback cannot dial from another machine, so it asks the
// kernel for the device and checks that this machine still gets in. A dial to
// one of the machine's own addresses arrives on the loopback device and proves
// nothing.
func TestListenerIsBoundToLoopback(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := toLoopback(l.Addr().(*net.TCPAddr).Port); err != nil {
		t.Fatal(err)
	}
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var device string
	if err := raw.Control(func(fd uintptr) {
		device, err = unix.GetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE)
	}); err != nil {
		t.Fatal(err)
	}
	if err != nil || device != "lo" {
		t.Errorf("bound to %q, %v", device, err)
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("from this machine: %v", err)
	}
	c.Close()
	if err := toLoopback(1); err == nil {
		t.Error("a port that nobody listens on was restricted")
	}
}
