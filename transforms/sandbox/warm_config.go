package sandbox

import (
	"context"
	"errors"
)

// Warm fills the build cache of a configuration, with the toolchain and the
// environment that its sandboxes will have. It does nothing the second time.
// Call it before the first command: until then each one builds what it needs of
// the standard library by itself.
func (c ProcessConfig) Warm(ctx context.Context) error {
	c, err := c.resolve()
	if err != nil {
		return err
	}
	if c.GOROOT == "" {
		return errors.New("process sandbox: there is no go command in PATH to show to the sandboxes")
	}
	return Warm(ctx, c.GOROOT, c.Cache, c.Env)
}
