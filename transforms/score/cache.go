package score

import (
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// cache remembers test runs by [Key]. At any time at most one run of a key is
// under way; whoever asks meanwhile gets its result. Failures are not kept.
type cache struct {
	runs   *lru.Cache[string, Run]
	flight singleflight.Group
	file   *cacheFile // nil when nothing is kept over a restart
}

func newCache(entries int, path string) (*cache, error) {
	runs, err := lru.New[string, Run](entries)
	if err != nil {
		return nil, fmt.Errorf("making the score cache: %w", err)
	}
	c := &cache{runs: runs}
	if path == "" {
		return c, nil
	}
	c.file, err = openCacheFile(path, func(key string, run Run) { runs.Add(key, run) })
	return c, err
}

// do returns the recorded run of key, or makes it. shared is true when the
// caller's f did not make it. f may return errStopped when its caller's context
// ended; somebody else who waited for it then makes the run himself.
func (c *cache) do(key string, f func() (Run, error)) (run Run, shared bool, err error) {
	for {
		if run, ok := c.runs.Get(key); ok {
			return run, true, nil
		}
		mine := false
		v, err, _ := c.flight.Do(key, func() (any, error) {
			mine = true
			run, err := f()
			if err != nil {
				return Run{}, err
			}
			c.runs.Add(key, run)
			c.file.append(key, run)
			return run, nil
		})
		if err != nil && !mine && errors.Is(err, errStopped) {
			continue // the one we waited for gave up; our own f sees our own context
		}
		return v.(Run), !mine, err
	}
}

func (c *cache) close() error {
	if c.file == nil {
		return nil
	}
	return c.file.close()
}
