package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"golang.org/x/sync/singleflight"

	"millrace/transforms/sandbox"
)

// images makes images ready: pulled, and prepared where a spec has a setup or
// something to withhold. Equal demands are met once.
type images struct {
	provider *Provider
	flight   singleflight.Group

	mu    sync.Mutex // guards what follows
	known map[string]*readyImage
}

// readyImage is an image that containers are made of. The first three fields do
// not change; images.mu guards the others.
type readyImage struct {
	key    string
	id     string
	digest string // of the image that the task names

	reference  string     // what was pulled or made, to be removed under the disk budget; empty for an image that was here
	users      int        // opened sandboxes
	used       time.Time  // last
	comparison string     // a container of it that is never started, to compare with
	comparing  sync.Mutex // held while that is made
}

func newImages(p *Provider) *images { return &images{provider: p, known: map[string]*readyImage{}} }

// prepareVersion is part of a prepared image's name: what a setup leaves is kept
// for as long as it is made in the same way.
const prepareVersion = "1"

func demand(spec sandbox.Spec) string {
	return fmt.Sprintf("%q", []any{spec.Image, spec.Workdir, spec.Setup, spec.Withheld, spec.Scrub, spec.Env, spec.Network})
}

// ready returns the image for a spec and counts one user of it.
func (m *images) ready(ctx context.Context, spec sandbox.Spec) (*readyImage, error) {
	key := demand(spec)
	for {
		if ready := m.use(key); ready != nil {
			return ready, nil
		}
		// The work goes on for others when one who waits gives up.
		done := m.flight.DoChan(key, func() (any, error) { return nil, m.make(m.provider.ctx, key, spec) })
		select {
		case r := <-done:
			if r.Err != nil {
				return nil, r.Err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *images) use(key string) *readyImage {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.known[key]
	if r != nil {
		r.users++
		r.used = time.Now()
	}
	return r
}

func (m *images) release(r *readyImage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.users--
	r.used = time.Now()
}

// forget drops an image that turned out to be gone, and the user whose container
// did not start.
func (m *images) forget(r *readyImage, err error) {
	m.release(r)
	if !errors.Is(classify(err), ErrImageMissing) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[r.key] == r {
		delete(m.known, r.key)
	}
}

func (m *images) make(ctx context.Context, key string, spec sandbox.Spec) error {
	base, pulled, err := m.local(ctx, spec.Image)
	if err != nil {
		return err
	}
	r := &readyImage{key: key, id: base.ID, digest: contentDigest(base)}
	if pulled {
		r.reference = spec.Image
	}
	if spec.Setup != "" || len(spec.Withheld) > 0 || spec.Scrub && !m.bare(spec) {
		sum := sha256.Sum256([]byte(fmt.Sprintf("%s %s %q", prepareVersion, base.ID, []any{spec.Workdir, spec.Setup, spec.Withheld, spec.Scrub, spec.Env})))
		r.reference = "millrace-prepared:" + hex.EncodeToString(sum[:16])
		if r.id, err = m.provider.prepared(ctx, r.reference, base.ID, spec); err != nil {
			return fmt.Errorf("preparing image %s: %w", spec.Image, err)
		}
	}
	r.used = time.Now()
	m.mu.Lock()
	m.known[key] = r
	m.mu.Unlock()
	return m.evict(ctx, r)
}

// bare tells whether the spec is a workspace given by files alone: the image
// below holds no repository.
func (m *images) bare(spec sandbox.Spec) bool {
	return spec.Image == m.provider.cfg.Image && len(spec.Files) > 0
}

// local returns an image that is here, after pulling it if it was not.
func (m *images) local(ctx context.Context, reference string) (image.InspectResponse, bool, error) {
	found, err := m.inspect(ctx, reference)
	if err == nil || !errdefs.IsNotFound(err) {
		return found, false, err
	}
	if err := m.provider.pull(ctx, reference); err != nil {
		return found, false, err
	}
	found, err = m.inspect(ctx, reference)
	return found, true, err
}

func (m *images) inspect(ctx context.Context, reference string) (image.InspectResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, m.provider.cfg.CallTime)
	defer cancel()
	return m.provider.api.ImageInspect(ctx, reference)
}

// contentDigest is the registry's digest of an image, or for one that no
// registry knows its id.
func contentDigest(i image.InspectResponse) string {
	for _, d := range i.RepoDigests {
		if _, digest, ok := strings.Cut(d, "@"); ok {
			return digest
		}
	}
	return i.ID
}

// evict removes images but kept, those used longest ago first, until the budget
// holds.
// Only what was pulled or prepared here is removed, by this provider or, if
// prepared, an earlier one.
func (m *images) evict(ctx context.Context, kept *readyImage) error {
	budget := m.provider.cfg.ImageBytes
	if budget == 0 {
		return nil
	}
	list, err := m.provider.api.ImageList(ctx, image.ListOptions{})
	if err != nil {
		return fmt.Errorf("measuring images: %w", err)
	}
	total := int64(0)
	old := map[string]int64{} // reference -> its size, of those that nobody here knows
	sizes := map[string]int64{}
	for _, i := range list {
		total += i.Size
		sizes[i.ID] = i.Size
		if i.Labels[labelPrepared] != "" && len(i.RepoTags) > 0 {
			old[i.RepoTags[0]] = i.Size
		}
	}
	for _, r := range m.idle() {
		delete(old, r.reference)
		if total <= budget || r == kept {
			continue
		}
		if m.drop(ctx, r) {
			total -= sizes[r.id]
		}
	}
	m.mu.Lock()
	for _, r := range m.known {
		delete(old, r.reference)
	}
	m.mu.Unlock()
	for reference, size := range old {
		if total <= budget {
			break
		}
		if _, err := m.provider.api.ImageRemove(ctx, reference, image.RemoveOptions{}); err == nil {
			total -= size
		}
	}
	return nil
}

// idle are the removable images without users, the one used longest ago first.
func (m *images) idle() []*readyImage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var idle []*readyImage
	for _, r := range m.known {
		if r.users == 0 && r.reference != "" {
			idle = append(idle, r)
		}
	}
	slices.SortFunc(idle, func(a, b *readyImage) int { return a.used.Compare(b.used) })
	return idle
}

// drop removes an image unless somebody has begun to use it. A container that
// still waits in the pool keeps the daemon from it; then it stays.
func (m *images) drop(ctx context.Context, r *readyImage) bool {
	m.mu.Lock()
	if r.users > 0 {
		m.mu.Unlock()
		return false
	}
	delete(m.known, r.key)
	comparison := r.comparison
	m.mu.Unlock()
	if comparison != "" {
		m.provider.remove(comparison)
	}
	_, err := m.provider.api.ImageRemove(ctx, r.reference, image.RemoveOptions{PruneChildren: true})
	return err == nil
}

// comparison returns a container of the image that is never started: what it
// holds is what a container of it began with.
func (m *images) comparison(ctx context.Context, r *readyImage, b birth) (string, error) {
	r.comparing.Lock()
	defer r.comparing.Unlock()
	m.mu.Lock()
	id := r.comparison
	m.mu.Unlock()
	if id != "" {
		return id, nil
	}
	id, err := m.provider.create(ctx, "comparison", b)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r.comparison = id
	return id, nil
}
