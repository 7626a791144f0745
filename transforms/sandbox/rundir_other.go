//go:build !unix

package sandbox

import (
	"errors"
	"os"
)

func tryLock(string) (*os.File, bool, error) { return nil, false, errors.ErrUnsupported }

func ownedPrivately(string) error { return errors.ErrUnsupported }
