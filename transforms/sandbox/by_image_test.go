package sandbox

import (
	"context"
	"testing"
)

// named counts what it is asked.
type named struct {
	Provider
	opened, prepared, closed int
}

func (n *named) Open(context.Context, string, Spec) (Sandbox, error) { n.opened++; return nil, nil }
func (n *named) Prepare(Spec, int)                                   { n.prepared++ }
func (n *named) Close() error                                        { n.closed++; return nil }

func TestByImage(t *testing.T) {
	images, files := &named{}, &named{}
	p := ByImage(images, files)
	for _, spec := range []Spec{{Image: "i"}, {Image: "j"}, {}} {
		p.Open(t.Context(), "", spec)
		p.(Preparer).Prepare(spec, 1)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if images.opened != 2 || images.prepared != 2 || images.closed != 1 || files.opened != 1 || files.prepared != 1 || files.closed != 1 {
		t.Errorf("images %+v, files %+v", images, files)
	}
	only := ByImage(images, &directory{dir: t.TempDir()})
	only.(Preparer).Prepare(Spec{}, 1) // a provider that cannot is not asked
}
