//go:build !linux

package embedded

import "log/slog"

// toLoopback cannot bind another package's socket to a device here, so Prism
// stays reachable from the network, and the user is told.
func toLoopback(port int) error {
	slog.Warn("the embedded runner listens on all interfaces without authentication: keep a firewall in front", "port", port)
	return nil
}
