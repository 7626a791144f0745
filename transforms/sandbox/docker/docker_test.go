package docker

import (
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/docker/dockertest"
	"millrace/transforms/sandbox/sandboxtest"
)

// provider returns a provider for the length of a test.
func provider(t testing.TB, cfg Config) *Provider {
	t.Helper()
	p, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestContract runs the suite of all sandboxes on three images, and so on three
// shells.
func TestContract(t *testing.T) {
	dockertest.Need(t, dockertest.Python, dockertest.Busybox)
	p := provider(t, Config{})
	bash := sandbox.Spec{Image: dockertest.Python, Setup: "ln -sf bash /bin/sh"}
	for name, spec := range map[string]sandbox.Spec{"dash": {Image: dockertest.Python}, "busybox": {Image: dockertest.Busybox}, "bash": bash} {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Contract(t, p, func(files ...schemas.File) sandbox.Spec {
				spec.Files = files
				return spec
			})
		})
	}
}
