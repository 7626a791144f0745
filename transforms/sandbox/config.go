package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"millrace/transforms/sandbox/inside"
)

// ProcessConfig are the settings of the process sandbox. The zero value of a
// field means the default told there.
type ProcessConfig struct {
	// Dir is the host directory that holds the workspaces; each provider makes
	// its own private directory in it and sweeps those of dead processes.
	// Default: "millrace-sandbox-<uid>" in the system's temporary directory.
	Dir string
	// Cache is the host directory of the warm Go build cache, shared read-only by
	// all sandboxes; see [Warm]. Default: "cache" in Dir.
	Cache string
	// GOROOT is the toolchain shown to the sandbox. Default: that of the "go"
	// command in PATH; none if there is no such command.
	GOROOT string
	// Env is the environment of a command, "KEY=value". It replaces the value of
	// [DefaultEnv] for the same key; nothing of this process's environment is
	// handed on.
	Env []string
	// Concurrency bounds the commands that run at one time. Default: the number
	// of CPUs.
	Concurrency int
	Limits      Limits
}

// Limits bound one command, or one workspace. The zero value of a field means
// the default of [DefaultLimits].
type Limits struct {
	// OutputBytes bounds Result.Output; the first and last half are kept.
	OutputBytes int
	// AddressSpace bounds the virtual memory of each process, in bytes. The Go
	// runtime reserves far more than it uses, so this is generous.
	AddressSpace uint64
	// Data bounds the writable private memory of each process, in bytes: heap and
	// the like. Exceeding it fails the allocation.
	Data uint64
	// CPUSeconds bounds the CPU time of each process.
	CPUSeconds uint64
	// FileBytes bounds each file that a command writes.
	FileBytes uint64
	// OpenFiles bounds the file descriptors of each process.
	OpenFiles uint64
	// Processes bounds the processes and threads of one sandbox.
	Processes uint64
	// TmpBytes bounds /tmp, and again what the Go build cache gains, in bytes.
	TmpBytes uint64
	// SnapshotFiles and SnapshotBytes bound Snapshot.
	SnapshotFiles int
	SnapshotBytes int64
}

// DefaultLimits are generous for a build and its tests, and stop what runs away.
func DefaultLimits() Limits {
	return Limits{
		OutputBytes:   64 << 10, // many times what an agent reads
		AddressSpace:  16 << 30, // a Go process reserves under 2 GiB before it does anything
		Data:          1 << 30,  // the linker takes about 100 MiB
		CPUSeconds:    300,
		FileBytes:     256 << 20, // a linked test binary is 3 to 20 MiB
		OpenFiles:     1024,
		Processes:     256,
		TmpBytes:      512 << 20,
		SnapshotFiles: 20_000,
		SnapshotBytes: 64 << 20,
	}
}

// DefaultEnv is the environment of a command. The Go settings make "go test" of
// a small package as cheap as it gets, and keep it off the network:
//
//   - GOGC=off: compiler and linker end before a collection pays;
//   - GOMAXPROCS=1: sandboxes run side by side, one core each;
//   - -vet=off saves 0.1 s of CPU time a test run;
//   - GOPROXY, GOTOOLCHAIN, GOTELEMETRY, GOENV: nothing is looked up outside.
func DefaultEnv() []string {
	return []string{
		"HOME=" + inside.Home, "TMPDIR=/tmp", "LANG=C.UTF-8", "TERM=dumb", "USER=root",
		"GOCACHE=" + inside.CacheDir, "GOPATH=" + inside.Home + "/go",
		"GOGC=off", "GOMAXPROCS=1", "CGO_ENABLED=0", "GOFLAGS=-vet=off",
		"GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off", "GOENV=off", "GO111MODULE=on",
	}
}

// resolve fills in the defaults and reports every contradiction.
func (c ProcessConfig) resolve() (ProcessConfig, error) {
	if c.Dir == "" {
		c.Dir = filepath.Join(os.TempDir(), fmt.Sprintf("millrace-sandbox-%d", os.Getuid()))
	}
	if c.Cache == "" {
		c.Cache = filepath.Join(c.Dir, "cache")
	}
	if c.GOROOT == "" {
		c.GOROOT = GOROOT()
	}
	if c.Concurrency == 0 {
		c.Concurrency = runtime.NumCPU()
	}
	c.Limits = c.Limits.orDefault()
	env := DefaultEnv()
	if c.GOROOT != "" {
		env = append(env, "GOROOT="+c.GOROOT, "PATH="+filepath.Join(c.GOROOT, "bin")+":"+systemPath)
	} else {
		env = append(env, "PATH="+systemPath)
	}
	c.Env = mergeEnv(env, c.Env)

	var problems []error
	var err error
	for _, p := range []*string{&c.Dir, &c.Cache} {
		if *p, err = filepath.Abs(*p); err != nil {
			problems = append(problems, err)
		}
	}
	if c.Concurrency < 0 {
		problems = append(problems, fmt.Errorf("concurrency %d: must be positive", c.Concurrency))
	}
	if c.Limits.OutputBytes < 0 || c.Limits.SnapshotFiles < 0 || c.Limits.SnapshotBytes < 0 {
		problems = append(problems, errors.New("a limit is negative"))
	}
	for _, kv := range c.Env {
		if !strings.Contains(kv, "=") || strings.Contains(kv, "\x00") {
			problems = append(problems, fmt.Errorf("environment %q: want KEY=value", kv))
		}
	}
	return c, errors.Join(problems...)
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	or := func(v *uint64, def uint64) {
		if *v == 0 {
			*v = def
		}
	}
	or(&l.AddressSpace, d.AddressSpace)
	or(&l.Data, d.Data)
	or(&l.CPUSeconds, d.CPUSeconds)
	or(&l.FileBytes, d.FileBytes)
	or(&l.OpenFiles, d.OpenFiles)
	or(&l.Processes, d.Processes)
	or(&l.TmpBytes, d.TmpBytes)
	if l.OutputBytes == 0 {
		l.OutputBytes = d.OutputBytes
	}
	if l.SnapshotFiles == 0 {
		l.SnapshotFiles = d.SnapshotFiles
	}
	if l.SnapshotBytes == 0 {
		l.SnapshotBytes = d.SnapshotBytes
	}
	return l
}

// mergeEnv returns base with the values of over, sorted by key.
func mergeEnv(base, over []string) []string {
	values := map[string]string{}
	for _, kv := range append(slices.Clone(base), over...) {
		key, _, _ := strings.Cut(kv, "=")
		values[key] = kv
	}
	env := make([]string, 0, len(values))
	for _, kv := range values {
		env = append(env, kv)
	}
	slices.Sort(env)
	return env
}

// GOROOT returns the root of the toolchain that the "go" command in PATH
// runs here, empty if there is none.
func GOROOT() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
