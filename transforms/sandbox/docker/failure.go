package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"millrace/transforms/sandbox"
)

// The types of failure, for errors.Is. Each is about the infrastructure.
var (
	// ErrImageMissing is an image that no registry has, or that may not be pulled.
	ErrImageMissing = errors.New("image is missing")
	// ErrRateLimited is a registry that still refused after every attempt.
	ErrRateLimited = errors.New("registry limits the rate of pulls")
	// ErrSetup is a setup script that failed.
	ErrSetup = errors.New("setup failed")
	// ErrStart is a container that did not start in time, or at all.
	ErrStart = errors.New("container did not start")
	// ErrOutOfMemory is a container that died because its memory limit was reached.
	ErrOutOfMemory = errors.New("container ran out of memory")
	// ErrDiskFull is a daemon without space left.
	ErrDiskFull = errors.New("no space left for containers")
	// ErrContainerGone is a container that died or was removed by somebody else.
	ErrContainerGone = errors.New("container is gone")
	// ErrDaemonGone is a daemon that does not answer.
	ErrDaemonGone = errors.New("docker daemon does not answer")
)

// errClosed is a provider that was closed.
var errClosed = errors.New("the docker sandbox is closed")

// failure makes a *sandbox.Failure of what a call of the daemon came to, with
// the type that the error shows. The end of the caller's context stays what it
// is.
func failure(ctx context.Context, op, label string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s for %s: %w", op, label, context.Cause(ctx))
	}
	var already *sandbox.Failure
	if errors.As(err, &already) {
		return err
	}
	return &sandbox.Failure{Op: op, Label: label, Err: classify(err)}
}

// classify puts the type before an error of the daemon that has none.
func classify(err error) error {
	for _, known := range []error{ErrImageMissing, ErrRateLimited, ErrSetup, ErrStart, ErrOutOfMemory, ErrDiskFull, ErrContainerGone, ErrDaemonGone} {
		if errors.Is(err, known) {
			return err
		}
	}
	text := strings.ToLower(err.Error())
	switch {
	case client.IsErrConnectionFailed(err) || strings.Contains(text, "connection refused") || strings.Contains(text, "broken pipe"):
		return fmt.Errorf("%w: %w", ErrDaemonGone, err)
	case strings.Contains(text, "no space left on device"), strings.Contains(text, "disk quota exceeded"):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case errdefs.IsNotFound(err) && strings.Contains(text, "no such image"), strings.Contains(text, "invalid reference format"):
		return fmt.Errorf("%w: %w", ErrImageMissing, err)
	case errdefs.IsNotFound(err) && strings.Contains(text, "no such container"), errdefs.IsConflict(err):
		return fmt.Errorf("%w: %w", ErrContainerGone, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrDaemonGone, err)
	}
	return err
}
