package taskset

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"millrace/schemas"
)

// Splitter gives tasks their split. The split of a task is a function of the
// settings and of the task's own id and repository: adding tasks to a set, or taking
// some away, moves no other.
type Splitter struct {
	// Parts are the splits by chance with their shares of all, which add up to 1.
	// A part whose share grows takes tasks only from its neighbours.
	Parts []Part
	// ByRepo keeps the tasks of a repository together: the share is then one of
	// repositories.
	ByRepo bool
	// Seed varies the draw.
	Seed uint64
	// Repos are repositories, in canonical form and lower case, with the split that
	// all their tasks are of. They come before Parts.
	Repos map[string]string
}

// Part is a split and its share, from 0 to 1.
type Part struct {
	Name  string
	Share float64
}

// shareError is how far the shares may be from 1: they are written in decimals.
const shareError = 1e-6

// Validate reports every setting that contradicts another.
func (s Splitter) Validate() error {
	var problems []error
	sum, seen := 0.0, map[string]bool{}
	for _, p := range s.Parts {
		if strings.TrimSpace(p.Name) == "" || seen[p.Name] {
			problems = append(problems, fmt.Errorf("part %q: blank, or named twice", p.Name))
		}
		if !(p.Share > 0 && p.Share <= 1) {
			problems = append(problems, fmt.Errorf("part %s: share %v is not above 0 and at most 1", p.Name, p.Share))
		}
		seen[p.Name] = true
		sum += p.Share
	}
	if len(s.Parts) > 0 && !(sum > 1-shareError && sum < 1+shareError) {
		problems = append(problems, fmt.Errorf("the shares add up to %v, not to 1", sum))
	}
	if len(s.Parts) == 0 && len(s.Repos) == 0 {
		problems = append(problems, errors.New("neither parts nor repositories: nothing says how to split"))
	}
	for repo, split := range s.Repos {
		if strings.TrimSpace(split) == "" {
			problems = append(problems, fmt.Errorf("repository %s: blank split", repo))
		}
	}
	return errors.Join(problems...)
}

// Split is the split of a task; that it has, where no setting gives another.
func (s Splitter) Split(t schemas.Task) string {
	repo := strings.ToLower(CanonicalRepo(t.Repo))
	if split, ok := s.Repos[repo]; ok {
		return split
	}
	key := t.ID
	if s.ByRepo {
		key = repo
	}
	place := draw(s.Seed, key)
	for i, p := range s.Parts {
		if place -= p.Share; place < 0 || i == len(s.Parts)-1 {
			return p.Name
		}
	}
	return t.Split
}

// draw is a number in [0, 1) by the seed and a key: the first 53 bits, which are
// those of a float64, of SHA-256 of both.
func draw(seed uint64, key string) float64 {
	hash := sha256.New()
	hash.Write(binary.LittleEndian.AppendUint64(nil, seed))
	hash.Write([]byte(key))
	return float64(binary.BigEndian.Uint64(hash.Sum(nil))>>11) / (1 << 53)
}
