package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"millrace/schemas"
)

// Repo is a local clone. It is only read, by the git command.
type Repo struct{ Dir string }

// gitTimeout bounds a command that reads objects.
const gitTimeout = 2 * time.Minute

// git runs one git command with an argument list, without hooks, prompts or
// configuration of the user, and returns what it prints.
func (r Repo) git(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	// What the clone's own configuration may make git run stays off too.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "--no-optional-locks", "--no-pager"}, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_LITERAL_PATHSPECS=1")
	cmd.Stdin = stdin
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("git %s in %s: %w: %s", args[0], r.Dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out.Bytes(), nil
}

// Resolve returns the hash of the commit that a revision names.
func (r Repo) Resolve(ctx context.Context, revision string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// Files returns the regular files of a commit that are text, in git's order, and the
// paths of those that are not. Links and submodules are left out.
func (r Repo) Files(ctx context.Context, commit string) (files []schemas.File, leftOut []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	tree, err := r.git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	var hashes bytes.Buffer
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(tree), "\x00"), "\x00") {
		// "<mode> <type> <hash>\t<path>"
		head, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			return nil, nil, fmt.Errorf("git ls-tree of %s printed %q", commit, entry)
		}
		if fields[1] != "blob" || !strings.HasPrefix(fields[0], "100") || !utf8.ValidString(path) {
			continue
		}
		paths = append(paths, path)
		hashes.WriteString(fields[2] + "\n")
	}
	out, err := r.git(ctx, &hashes, "cat-file", "--batch")
	if err != nil {
		return nil, nil, err
	}
	blobs := bufio.NewReader(bytes.NewReader(out))
	for _, path := range paths {
		text, err := readBlob(blobs)
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s of commit %s: %w", path, commit, err)
		}
		if !utf8.Valid(text) {
			leftOut = append(leftOut, path)
			continue
		}
		files = append(files, schemas.File{Path: path, Content: string(text)})
	}
	return files, leftOut, nil
}

// readBlob reads "<hash> blob <size>\n<content>\n".
func readBlob(r *bufio.Reader) ([]byte, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("git cat-file printed %q", head)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 {
		return nil, fmt.Errorf("git cat-file printed %q", head)
	}
	text := make([]byte, size+1)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	if text[size] != '\n' {
		return nil, errors.New("git cat-file printed more than the size it told")
	}
	return text[:size], nil
}
