package sandbox

import (
	"context"
	"errors"
)

// ByImage opens a spec with an image by one provider and one without by
// another, and closes both.
func ByImage(images, files Provider) Provider { return byImage{images, files} }

type byImage struct{ images, files Provider }

func (b byImage) of(spec Spec) Provider {
	if spec.Image != "" {
		return b.images
	}
	return b.files
}

func (b byImage) Open(ctx context.Context, label string, spec Spec) (Sandbox, error) {
	return b.of(spec).Open(ctx, label, spec)
}

// Prepare is for the provider that can.
func (b byImage) Prepare(spec Spec, n int) {
	if p, ok := b.of(spec).(Preparer); ok {
		p.Prepare(spec, n)
	}
}

// Describe says of both which protections are active.
func (b byImage) Describe() string {
	return b.files.Describe() + "; for tasks with an image: " + b.images.Describe()
}

func (b byImage) Close() error { return errors.Join(b.images.Close(), b.files.Close()) }
