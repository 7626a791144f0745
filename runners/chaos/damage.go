package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What can be torn of each role while it is down. Only what was never
// acknowledged may be lost: the end of a file that is a cache or that is written
// again, what a commit had begun, and bytes behind the last whole batch of a log.
const (
	tornCache      = "cache"      // the score cache loses its end
	tornJournal    = "journal"    // its last line is cut
	tornCheckpoint = "checkpoint" // the files of an unfinished commit are cut or flipped
	tornLedger     = "ledger"     // bytes of a step that was never committed
	tornSegment    = "segment"    // a batch cut in the middle
)

var tearable = map[string][]string{
	scoreRole:  {tornCache},
	feederRole: {tornJournal},
	learnRole:  {tornCheckpoint, tornLedger},
	brokerRole: {tornSegment},
}

// tear damages what a role left behind as a crash could have.
func tear(campaign, torn string, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 1))
	switch torn {
	case tornCache:
		return cutEnd(random, filepath.Join(roleDir(campaign, scoreRole), cacheFile), 200)
	case tornJournal:
		return cutEnd(random, filepath.Join(roleDir(campaign, feederRole), "metrics.jsonl"), 200)
	case tornCheckpoint:
		return tearCheckpoint(random, checkpoints(campaign))
	case tornLedger:
		return appendGarbage(random, filepath.Join(checkpoints(campaign), "ledger.frames"))
	case tornSegment:
		return tearSegment(random, filepath.Join(roleDir(campaign, brokerRole), "data"))
	}
	return fmt.Errorf("nothing is known of a torn %q", torn)
}

// cutEnd takes up to most bytes from the end of a file.
func cutEnd(random *rand.Rand, path string, most int64) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // nothing was written yet
	}
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()-1-random.Int64N(min(most, info.Size())))
}

func appendGarbage(random *rand.Rand, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(noise(random, 1+random.IntN(500)))
	return errors.Join(err, f.Close())
}

func noise(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// tearCheckpoint damages each file of an unfinished commit, and of a directory
// that was renamed but never became current. Where there is none, it makes one.
func tearCheckpoint(random *rand.Rand, dir string) error {
	current, err := os.ReadFile(filepath.Join(dir, "CURRENT"))
	if err != nil {
		return nil // nothing was committed yet
	}
	step := currentStep(current)
	next := filepath.Join(dir, fmt.Sprintf("step-%06d", step+1))
	unfinished := filepath.Join(dir, "incomplete-"+filepath.Base(next))
	found := false
	for _, dir := range []string{next, unfinished} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		found = true
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if len(data) == 0 {
				continue
			}
			if random.IntN(2) == 0 {
				data = data[:random.IntN(len(data))]
			} else {
				data[random.IntN(len(data))] ^= 1 << random.IntN(8)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
		}
	}
	if found {
		return nil
	}
	if err := os.Mkdir(unfinished, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(unfinished, "model.safetensors"), noise(random, 1000), 0o644)
}

// tearSegment appends the beginning of a batch to the segments of some
// partitions, as a broker that dies in the middle of a write leaves it.
func tearSegment(random *rand.Rand, dir string) error {
	var segments []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".dat") {
			segments = append(segments, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(segments)
	for _, path := range segments {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(data) < 64 || random.IntN(2) == 0 {
			continue
		}
		batch := bytes.Clone(data[:1+random.IntN(60)]) // the beginning of the first one
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		_, err = f.Write(batch)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// currentStep is the step that the file CURRENT names, -1 if none.
func currentStep(current []byte) int64 {
	var step int64
	if _, err := fmt.Sscanf(string(current), "step-%d", &step); err != nil {
		return -1
	}
	return step
}
