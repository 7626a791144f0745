package chaos

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"millrace/transforms/learn"
)

// A point is a named place in the life of a role at which it, or the broker, can
// be killed:
//
//	start      the role has locked its directory and done nothing else
//	work       a rollout or a test run is under way
//	produce    a batch is written to the socket and the broker has not seen it
//	produced   the broker has written it and the role does not know
//	commit     a position is to be committed and the broker has not seen it
//	committed  it is committed and the role does not know
//	publish    the checkpoint is committed, the policy version not announced
//	and the write points of a checkpoint, see [learn.WritePoints]
//
// The points of the protocol are the proxy's and are exact: what it holds back
// never arrives.
const (
	atStart     = "start"
	atWork      = "work"
	atProduce   = "produce"
	atProduced  = "produced"
	atCommit    = "commit"
	atCommitted = "committed"
	atPublish   = "publish"
)

// passage is a point of a role.
type passage struct{ role, point string }

func (p passage) String() string { return p.role + " at " + p.point }

// passages are all points, those that every campaign should have died at.
func passages() []passage {
	out := []passage{{feederRole, atProduce}, {feederRole, atProduced}, {learnRole, atPublish}, {learnRole, atProduce}, {learnRole, atProduced}}
	for _, role := range []string{rolloutRole, scoreRole, advantageRole} {
		for _, point := range []string{atProduce, atProduced, atCommit, atCommitted} {
			out = append(out, passage{role, point})
		}
	}
	for _, role := range []string{rolloutRole, scoreRole} {
		out = append(out, passage{role, atWork})
	}
	for _, point := range learn.WritePoints {
		out = append(out, passage{learnRole, point})
	}
	return out
}

// proxied says that the proxy passes the point, not the role itself.
func (p passage) proxied() bool {
	switch p.point {
	case atProduce, atProduced, atCommit, atCommitted:
		return true
	}
	return false
}

// The campaign tells a role by files in its directory what shall happen in it:
// "fuse" holds point and count of passages, "slow" how long each write point
// takes.
const (
	fuseFile = "fuse"
	slowFile = "slow"
)

// points are the points that a role passes itself.
type points struct {
	dir    string     // the role's
	mu     sync.Mutex // guards passed
	passed map[string]int
}

func newPoints(dir string) *points { return &points{dir: dir, passed: map[string]int{}} }

// reached kills this process if its fuse says so.
func (p *points) reached(point string) error {
	if text, err := os.ReadFile(filepath.Join(p.dir, slowFile)); err == nil {
		if d, err := time.ParseDuration(string(text)); err == nil {
			time.Sleep(d)
		}
	}
	path := filepath.Join(p.dir, fuseFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var at string
	var n int
	if err == nil {
		count, name, _ := strings.Cut(string(text), " ")
		at = name
		_, err = fmt.Sscan(count, &n)
	}
	if err != nil {
		return fmt.Errorf("reading the fuse: %w", err)
	}
	if at != point {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.passed[string(text)]++; p.passed[string(text)] < n {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("removing the fuse: %w", err)
	}
	die()
	return nil
}

// die ends this process between two instructions.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// light sets a role's fuse: it dies at the n-th passage of a point from now on.
func light(dir, point string, n int) error {
	return replaceFile(filepath.Join(dir, fuseFile), fmt.Sprintf("%d %s", n, point))
}

// replaceFile writes a file that a reader sees whole or not at all.
func replaceFile(path, text string) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
