package flink

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// versions names the jars of pom.xml: Flink's version and Beam's.
const versions = "1.19.0-beam-2.70.0"

//go:embed pom.xml
var pom []byte

// ErrNotFetched says that the jars are not in the user's cache.
var ErrNotFetched = errors.New("flink: not in the cache: run millrace flink fetch")

// jars is the directory of the jars, whether it is there or not.
func jars() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache of Apache Flink: %w", err)
	}
	return filepath.Join(cache, "millrace", "flink", versions), nil
}

// Fetched returns the directory of the jars, or ErrNotFetched.
func Fetched() (string, error) {
	dir, err := jars()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err != nil {
		return "", ErrNotFetched
	}
	return dir, nil
}

// Fetch puts Flink and Beam's job server, about 160 MB, into the user's cache by
// Maven. What is there is kept.
func Fetch(ctx context.Context) error {
	dir, err := jars()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("fetching Apache Flink: no mvn in PATH")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("fetching Apache Flink: %w", err)
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), ".part-*") // so that a directory with the final name is whole
	if err != nil {
		return fmt.Errorf("fetching Apache Flink: %w", err)
	}
	defer os.RemoveAll(part)
	file := filepath.Join(part, "pom.xml")
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return fmt.Errorf("fetching Apache Flink: %w", err)
	}
	lib := filepath.Join(part, "lib")
	out, err := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", file, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+lib).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fetching Apache Flink: mvn: %w: %s", err, firstLine(string(out)))
	}
	if err := os.Rename(lib, dir); err != nil {
		return fmt.Errorf("fetching Apache Flink: %w", err)
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
