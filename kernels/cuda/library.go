package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// libraryEnv names the library's file.
const libraryEnv = "MILLRACE_CUDA"

const libraryFile = "libmillrace_cuda.so"

// library is the loaded library: the addresses of its functions.
type library struct {
	path string

	devices, open, close, memory, create, destroy uintptr
	write, read, restart, accumulate, logProbs    uintptr
	step, publish                                 uintptr
	engineCreate, engineDestroy, tick             uintptr
	layout                                        func() string
}

// loaded is the process's library. A library cannot be unloaded: its threads and
// the driver's would lose their code.
var loaded = sync.OnceValues(func() (*library, error) {
	path, err := find(os.Getenv(libraryEnv), os.Executable, os.Getwd)
	if err != nil {
		return nil, err
	}
	l, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("%w: loading %s: %w", ErrUnavailable, path, err)
	}
	return l, nil
})

// find returns the library's path. named, if it is not empty, is where it must be.
func find(named string, executable, working func() (string, error)) (string, error) {
	if named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", fmt.Errorf("%w: %s: %w", ErrUnavailable, libraryEnv, err)
		}
		return named, nil
	}
	built := filepath.Join("kernels", "cuda", "build", libraryFile)
	var places []string
	if path, err := executable(); err == nil {
		dir := filepath.Dir(path)
		places = append(places, filepath.Join(dir, libraryFile), filepath.Join(filepath.Dir(dir), built))
	}
	if dir, err := working(); err == nil {
		if place := filepath.Join(dir, built); !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	for _, path := range places {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s is not there; looked for %s; %s may name it", ErrUnavailable, libraryFile, strings.Join(places, ", "), libraryEnv)
}

// functions are the library's, by name, and where their addresses go.
func (l *library) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"mr_devices": &l.devices, "mr_open": &l.open, "mr_close": &l.close, "mr_memory": &l.memory,
		"mr_create": &l.create, "mr_destroy": &l.destroy, "mr_write": &l.write, "mr_read": &l.read,
		"mr_restart": &l.restart, "mr_accumulate": &l.accumulate, "mr_log_probs": &l.logProbs,
		"mr_step": &l.step, "mr_publish": &l.publish,
		"mr_engine_create": &l.engineCreate, "mr_engine_destroy": &l.engineDestroy, "mr_tick": &l.tick,
	}
}

// errVersion is part of the error for a library of another version.
var errVersion = errors.New("another version of the interface")

func checkVersion(version int32) error {
	if version != abiVersion {
		return fmt.Errorf("%w: the library has %d, this program %d: build both from one source", errVersion, version, abiVersion)
	}
	return nil
}
