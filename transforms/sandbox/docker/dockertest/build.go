package dockertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

// Build returns an image that a script makes of another, by "sh -ec" in its
// working directory. Equal scripts are run once, and the image stays.
func Build(t testing.TB, from, script string) string {
	t.Helper()
	Need(t, from)
	sum := sha256.Sum256([]byte(from + "\x00" + script))
	name := "millrace-test/built:" + hex.EncodeToString(sum[:8])
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	if _, err := api.ImageInspect(t.Context(), name); err == nil {
		return name
	}
	made, err := api.ContainerCreate(t.Context(), &container.Config{Image: from, Cmd: []string{"sh", "-ec", "exec 2>&1\n" + script}, WorkingDir: "/testbed", Tty: true}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer api.ContainerRemove(context.WithoutCancel(t.Context()), made.ID, container.RemoveOptions{Force: true})
	ended, broken := api.ContainerWait(t.Context(), made.ID, container.WaitConditionNextExit)
	if err := api.ContainerStart(t.Context(), made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-broken:
		t.Fatal(err)
	case end := <-ended:
		if end.StatusCode != 0 {
			t.Fatalf("building an image: status %d: %s", end.StatusCode, said(t, api, made.ID))
		}
	}
	if _, err := api.ContainerCommit(t.Context(), made.ID, container.CommitOptions{Reference: name}); err != nil {
		t.Fatal(err)
	}
	return name
}

// said is what a container printed.
func said(t testing.TB, api *client.Client, id string) string {
	t.Helper()
	stream, err := api.ContainerLogs(t.Context(), id, container.LogsOptions{ShowStdout: true})
	if err != nil {
		return err.Error()
	}
	defer stream.Close()
	text := make([]byte, 16<<10)
	n, _ := stream.Read(text)
	return string(text[:n])
}
