// Package dockertest gives tests the images that images.sh makes.
package dockertest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"
)

// The images. Each holds an empty /testbed.
const (
	// Python is Debian with python3, pytest, git and patch.
	Python = "millrace-test/python:1"
	// Go is Python with a Go toolchain in /usr/local/go.
	Go = "millrace-test/go:1"
	// Busybox is one static program and its names.
	Busybox = "millrace-test/busybox:1"
)

// answerTime bounds the daemon's answer to whether it has an image.
const answerTime = 30 * time.Second

// Need skips a test, by name, where there is no daemon or the images were not
// made; where nothing may be left out it fails.
func Need(t testing.TB, images ...string) {
	t.Helper()
	miss := t.Skipf
	if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
		miss = t.Fatalf
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		miss("docker: %v", err)
	}
	defer api.Close()
	if _, err := api.Ping(ctx); err != nil {
		miss("docker: no daemon answers: %v", err)
	}
	var absent []string
	for _, name := range images {
		if _, err := api.ImageInspect(ctx, name); err != nil {
			absent = append(absent, name)
		}
	}
	if len(absent) > 0 {
		miss("docker: %s not here; make docker makes them", strings.Join(absent, ", "))
	}
}
