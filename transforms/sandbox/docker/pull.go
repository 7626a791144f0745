package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
)

// Attempts at a pull are this far apart, the first and the last ones. Docker
// Hub counts pulls over six hours, so there is no use in hurry.
const (
	firstPullPause = 2 * time.Second
	lastPullPause  = 2 * time.Minute
)

// pull fetches an image from its registry. It is tried again while the registry
// limits the rate or fails, for PullTime in all.
func (p *Provider) pull(ctx context.Context, reference string) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPullPause, lastPullPause
	limited := false
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := p.pullOnce(ctx, reference)
		switch {
		case err == nil:
		case rateLimited(err):
			limited = true
		case !transient(err):
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(p.cfg.PullTime))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited && rateLimited(err):
		return fmt.Errorf("pulling %s for %v: %w: %w", reference, p.cfg.PullTime, ErrRateLimited, err)
	case absent(err):
		return fmt.Errorf("pulling %s: %w: %w", reference, ErrImageMissing, err)
	}
	return fmt.Errorf("pulling %s: %w", reference, err)
}

func (p *Provider) pullOnce(ctx context.Context, reference string) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.PullTime)
	defer cancel()
	progress, err := p.api.ImagePull(ctx, reference, image.PullOptions{})
	if err != nil {
		return err
	}
	defer progress.Close()
	// What failed on the way is in the stream, not in the call's error.
	for lines := json.NewDecoder(progress); ; {
		var line struct {
			Error string `json:"error"`
		}
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the progress: %w", err)
		}
		if line.Error != "" {
			return errors.New(line.Error)
		}
	}
}

func says(err error, parts ...string) bool {
	text := strings.ToLower(err.Error())
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

func rateLimited(err error) bool {
	return says(err, "toomanyrequests", "too many requests", "rate limit", "429")
}

func absent(err error) bool {
	return errdefs.IsNotFound(err) || says(err, "manifest unknown", "not found", "repository does not exist", "access denied", "denied: ", "unauthorized", "invalid reference")
}

// transient tells whether another attempt may help.
func transient(err error) bool {
	if absent(err) || errors.Is(classify(err), ErrDiskFull) {
		return false
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errdefs.IsUnavailable(err) ||
		says(err, "timeout", "timed out", "eof", "connection reset", "connection refused", "temporary failure", "500", "502", "503", "504", "unexpected status")
}
