package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"millrace/transforms/sandbox"
)

// prepared returns the image that a spec's setup makes of base, made now or by an
// earlier run.
func (p *Provider) prepared(ctx context.Context, reference, base string, spec sandbox.Spec) (string, error) {
	found, err := p.images.inspect(ctx, reference)
	if err == nil || !errdefs.IsNotFound(err) {
		return found.ID, err
	}
	birth := birthOf(&readyImage{id: base}, spec)
	c, err := p.launch(ctx, "setup of "+spec.Image, birth)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.SetupTime)
	defer cancel()
	id, err := c.prepare(ctx, reference, spec)
	return id, errors.Join(err, c.close())
}

// prepare runs the setup and keeps what it leaves as an image.
func (c *instance) prepare(ctx context.Context, reference string, spec sandbox.Spec) (string, error) {
	if spec.Setup != "" {
		if err := c.must(ctx, "the setup script", spec.Setup); err != nil {
			return "", err
		}
	}
	if len(spec.Withheld) > 0 {
		// A link is removed, not what it leads to; the tests say by what names
		// they can be reached.
		if err := c.must(ctx, "removing what is withheld", "rm -rf -- "+words(spec.Withheld...)); err != nil {
			return "", err
		}
	}
	if spec.Scrub {
		if err := c.must(ctx, "taking later commits out of the repository", scrub); err != nil {
			return "", err
		}
	}
	state, _, err := c.provider.api.ContainerInspectWithRaw(ctx, c.id, false)
	if err != nil {
		return "", err
	}
	// The labels of the container would make its image look like one.
	config := *state.Config
	config.Labels = map[string]string{labelPrepared: spec.Image}
	made, err := c.provider.api.ContainerCommit(ctx, c.id, container.CommitOptions{Reference: reference, Config: &config})
	if err != nil {
		return "", fmt.Errorf("keeping the prepared image: %w", err)
	}
	return made.ID, nil
}

// setupOutput bounds what an error repeats of a script's output.
const setupOutput = 4 << 10

// must runs a script in the workdir that has to succeed.
func (c *instance) must(ctx context.Context, what, script string) error {
	out := sandbox.NewOutput(setupOutput)
	status, err := c.shell.run(ctx, fmt.Sprintf("cd -- %s && /bin/sh -c %s </dev/null 2>&1", sandbox.Quote(c.root), sandbox.Quote(script)), out)
	text, _ := out.Text()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s did not end within %v: %s", ErrSetup, what, c.provider.cfg.SetupTime, strings.TrimSpace(text))
	case err != nil:
		return c.died(ctx, err)
	case status != 0:
		return fmt.Errorf("%w: %s ended with status %d: %s", ErrSetup, what, status, strings.TrimSpace(text))
	}
	return nil
}
