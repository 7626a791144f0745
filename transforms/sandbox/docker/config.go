package docker

import (
	"errors"
	"fmt"
	"time"
)

// Config are the settings of a [Provider]. The zero value of a field means the
// default told there.
type Config struct {
	// Host is the daemon's address, such as "unix:///run/docker.sock". Default:
	// DOCKER_HOST and its companions in the environment, else the local socket.
	Host string `yaml:"host"`
	// Run is the run's id, a label of its containers: a new provider of the same
	// run removes them.
	Run string `yaml:"-"`
	// Image holds workspaces that are given by their files. Without one, such a
	// workspace is an error.
	Image string `yaml:"image"`
	// Containers bounds the containers in use at one time. Default: 64.
	Containers int `yaml:"containers"`
	// Warm is how many containers may wait, started, for the sandbox that will be
	// opened of them. Default: 8. Negative: none.
	Warm int `yaml:"warm"`
	// WarmTime is how long such a container waits before it is removed. Default:
	// 10 minutes.
	WarmTime time.Duration `yaml:"warm_time"`
	// ImageBytes is the disk budget of images: over it, those that were pulled or
	// prepared here and used longest ago are removed. Default: no bound.
	ImageBytes int64 `yaml:"image_bytes"`
	// PullTime bounds pulling one image with all its attempts, SetupTime a setup
	// script, StartTime starting a container, CallTime every other call of the
	// daemon. Defaults: 30, 20, 2 and 2 minutes.
	PullTime  time.Duration `yaml:"pull_time"`
	SetupTime time.Duration `yaml:"setup_time"`
	StartTime time.Duration `yaml:"start_time"`
	CallTime  time.Duration `yaml:"call_time"`
	Limits    Limits        `yaml:"limits"`
}

// Limits bound one container. The zero value of a field means the default told
// there.
type Limits struct {
	// MemoryBytes bounds the memory of all its processes; there is no swap.
	// Default: 4 GiB.
	MemoryBytes int64 `yaml:"memory_bytes"`
	// CPUs is how many cores it may use. Default: 2.
	CPUs float64 `yaml:"cpus"`
	// Processes bounds its processes and threads. Default: 512.
	Processes int64 `yaml:"processes"`
	// DiskBytes bounds what it writes. Where the daemon's storage has no quota, a
	// command is killed within seconds of exceeding it. Default: 8 GiB.
	DiskBytes int64 `yaml:"disk_bytes"`
	// FileBytes bounds each file. Default: 2 GiB.
	FileBytes int64 `yaml:"file_bytes"`
	// OpenFiles bounds the descriptors of each process. Default: 4096.
	OpenFiles int64 `yaml:"open_files"`
	// OutputBytes bounds a command's output; the first and last half are kept.
	// Default: 16 MiB, above the log of any test suite that we know.
	OutputBytes int `yaml:"output_bytes"`
	// ReadBytes bounds a file that is read; PatchFiles and PatchBytes the changed
	// files of a patch, and the files of a snapshot. Defaults: 16 MiB, 20,000
	// files, 64 MiB.
	ReadBytes  int64 `yaml:"read_bytes"`
	PatchFiles int   `yaml:"patch_files"`
	PatchBytes int64 `yaml:"patch_bytes"`
}

// Default returns the settings with every default filled in.
func Default() Config {
	c, _ := Config{}.resolve() // the zero value has no contradiction
	return c
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// resolve fills in the defaults and reports every contradiction.
func (c Config) resolve() (Config, error) {
	orDefault(&c.Containers, 64)
	orDefault(&c.Warm, 8)
	orDefault(&c.WarmTime, 10*time.Minute)
	orDefault(&c.PullTime, 30*time.Minute)
	orDefault(&c.SetupTime, 20*time.Minute)
	orDefault(&c.StartTime, 2*time.Minute)
	orDefault(&c.CallTime, 2*time.Minute)
	l := &c.Limits
	orDefault(&l.MemoryBytes, 4<<30)
	orDefault(&l.CPUs, 2)
	orDefault(&l.Processes, 512)
	orDefault(&l.DiskBytes, 8<<30)
	orDefault(&l.FileBytes, 2<<30)
	orDefault(&l.OpenFiles, 4096)
	orDefault(&l.OutputBytes, 16<<20)
	orDefault(&l.ReadBytes, 16<<20)
	orDefault(&l.PatchFiles, 20_000)
	orDefault(&l.PatchBytes, 64<<20)

	var problems []error
	for _, f := range []struct {
		name string
		bad  bool
	}{
		{"containers", c.Containers < 0}, {"warm_time", c.WarmTime < 0}, {"image_bytes", c.ImageBytes < 0},
		{"pull_time", c.PullTime < 0}, {"setup_time", c.SetupTime < 0}, {"start_time", c.StartTime < 0}, {"call_time", c.CallTime < 0},
		{"limits.memory_bytes", l.MemoryBytes < 0}, {"limits.cpus", l.CPUs < 0}, {"limits.processes", l.Processes < 0},
		{"limits.disk_bytes", l.DiskBytes < 0}, {"limits.file_bytes", l.FileBytes < 0}, {"limits.open_files", l.OpenFiles < 0},
		{"limits.output_bytes", l.OutputBytes < 0}, {"limits.read_bytes", l.ReadBytes < 0},
		{"limits.patch_files", l.PatchFiles < 0}, {"limits.patch_bytes", l.PatchBytes < 0},
	} {
		if f.bad {
			problems = append(problems, fmt.Errorf("docker.%s is negative", f.name))
		}
	}
	const leastMemory = 6 << 20 // the daemon's own bound
	if l.MemoryBytes > 0 && l.MemoryBytes < leastMemory {
		problems = append(problems, fmt.Errorf("docker.limits.memory_bytes is %d: a container needs %d at least", l.MemoryBytes, leastMemory))
	}
	return c, errors.Join(problems...)
}
