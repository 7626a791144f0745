package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// Warm fills a Go build cache with what the tests of a small package need of
// the standard library, built with the settings of env, and makes it fit for
// being a read-only layer. A cache that was warmed by the same toolchain with
// the same settings is left alone. It takes half a minute of CPU time.
func Warm(ctx context.Context, goroot, cache string, env []string) error {
	stamp, err := os.ReadFile(filepath.Join(goroot, "VERSION"))
	if err != nil {
		return fmt.Errorf("warming the build cache: reading the toolchain's version: %w", err)
	}
	stamp = fmt.Appendf(stamp, "%q\n", env)
	stampFile := filepath.Join(cache, "millrace-warm")
	if old, err := os.ReadFile(stampFile); err == nil && bytes.Equal(old, stamp) {
		return nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return fmt.Errorf("warming the build cache: %w", err)
	}
	if err := buildWarm(ctx, goroot, cache, env); err != nil {
		return fmt.Errorf("warming the build cache: %w", err)
	}
	if err := settle(cache); err != nil {
		return fmt.Errorf("settling the build cache: %w", err)
	}
	if err := os.WriteFile(stampFile, stamp, 0o644); err != nil {
		return fmt.Errorf("warming the build cache: %w", err)
	}
	return nil
}

// warmImports are what tests of small packages import: what they need is built
// once, here, and not once for each command.
const warmImports = `package warm

import (
	_ "bufio"
	_ "bytes"
	_ "cmp"
	_ "container/heap"
	_ "container/list"
	_ "context"
	_ "encoding/base64"
	_ "encoding/binary"
	_ "encoding/hex"
	_ "encoding/json"
	_ "errors"
	_ "fmt"
	_ "io"
	_ "iter"
	_ "maps"
	_ "math"
	_ "math/bits"
	_ "math/rand"
	_ "net/url"
	_ "os"
	_ "path"
	_ "path/filepath"
	_ "reflect"
	_ "regexp"
	_ "slices"
	_ "sort"
	_ "strconv"
	_ "strings"
	_ "sync"
	_ "testing"
	_ "testing/quick"
	_ "text/tabwriter"
	_ "time"
	_ "unicode"
	_ "unicode/utf8"
)
`

// buildWarm runs the tests of a package that imports warmImports. The code is
// this program's own, so no sandbox is needed.
func buildWarm(ctx context.Context, goroot, cache string, env []string) error {
	temporary, err := os.MkdirTemp("", "millrace-warm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	dir := filepath.Join(temporary, "warm") // the go command ignores a module in TMPDIR itself
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"go.mod":       "module warm\n\ngo 1.21\n",
		"warm.go":      warmImports,
		"warm_test.go": "package warm\n\nimport \"testing\"\n\nfunc TestWarm(t *testing.T) {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(goroot, "bin", "go"), "test", "./...")
	cmd.Dir = dir
	// Unlike in a sandbox: here all cores help, and memory must last for the
	// whole standard library.
	cmd.Env = mergeEnv(env, []string{
		"GOCACHE=" + cache, "HOME=" + temporary, "GOPATH=" + filepath.Join(temporary, "gopath"), "TMPDIR=" + temporary,
		"GOGC=100", "GOMAXPROCS=" + strconv.Itoa(runtime.NumCPU()),
	})
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test of a small package: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// farFuture is how far ahead the cache's files are dated. The go command
// renews the time of an entry that is older than an hour, and trims the cache
// once a day: under an overlay the one would copy the entry, the other read the
// whole cache, for each command.
const farFuture = 5 * 365 * 24 * time.Hour

// settle dates all files ahead and opens the directories to the sandbox's
// user: under an overlay it writes to its own layer, but with the permissions
// of this one. The cache itself stays closed to other users.
func settle(cache string) error {
	then := time.Now().Add(farFuture)
	err := filepath.WalkDir(cache, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != cache {
			if err := os.Chmod(path, 0o777); err != nil {
				return err
			}
		}
		return os.Chtimes(path, then, then)
	})
	return errors.Join(err, os.WriteFile(filepath.Join(cache, "trim.txt"), fmt.Append(nil, then.Unix()), 0o644))
}
