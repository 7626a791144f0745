package docker

import (
	"context"
	"fmt"
	"io"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// engine is what is used of the Docker API; *client.Client has it.
type engine interface {
	Info(context.Context) (system.Info, error)
	Close() error

	ImageInspect(ctx context.Context, id string, options ...client.ImageInspectOption) (image.InspectResponse, error)
	ImagePull(ctx context.Context, reference string, options image.PullOptions) (io.ReadCloser, error)
	ImageList(context.Context, image.ListOptions) ([]image.Summary, error)
	ImageRemove(ctx context.Context, id string, options image.RemoveOptions) ([]image.DeleteResponse, error)

	ContainerCreate(ctx context.Context, config *container.Config, host *container.HostConfig, network *network.NetworkingConfig, platform *ocispec.Platform, name string) (container.CreateResponse, error)
	ContainerAttach(ctx context.Context, id string, options container.AttachOptions) (types.HijackedResponse, error)
	ContainerStart(ctx context.Context, id string, options container.StartOptions) error
	ContainerInspectWithRaw(ctx context.Context, id string, size bool) (container.InspectResponse, []byte, error)
	ContainerKill(ctx context.Context, id, signal string) error
	ContainerRemove(ctx context.Context, id string, options container.RemoveOptions) error
	ContainerList(context.Context, container.ListOptions) ([]container.Summary, error)
	ContainerCommit(ctx context.Context, id string, options container.CommitOptions) (container.CommitResponse, error)
	ContainerDiff(ctx context.Context, id string) ([]container.FilesystemChange, error)
	ContainerExecCreate(ctx context.Context, id string, options container.ExecOptions) (container.ExecCreateResponse, error)
	ContainerExecStart(ctx context.Context, exec string, options container.ExecStartOptions) error
	CopyFromContainer(ctx context.Context, id, path string) (io.ReadCloser, container.PathStat, error)
	CopyToContainer(ctx context.Context, id, path string, content io.Reader, options container.CopyToContainerOptions) error
}

// connect opens the daemon's API and asks it who it is.
func connect(ctx context.Context, host string) (engine, system.Info, error) {
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if host != "" {
		options = append(options, client.WithHost(host))
	}
	api, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, system.Info{}, fmt.Errorf("opening the docker API at %q: %w", host, err)
	}
	info, err := api.Info(ctx)
	if err != nil {
		api.Close()
		return nil, system.Info{}, fmt.Errorf("%w: %w", ErrDaemonGone, err)
	}
	return api, info, nil
}
