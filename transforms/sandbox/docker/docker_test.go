package docker

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestPatchIsGits: what git would show of the same workspace, ignored files, modes
// and directories that come and go.
func TestPatchIsGits(t *testing.T) {
	dockertest.Need(t, dockertest.Python)
	p := provider(t, Config{})
	s := sandboxtest.Open(t, p, sandbox.Spec{Image: dockertest.Python, Setup: "git init -q; git config user.email a@b; git config user.name n; " +
		"printf '*.log\\nbuild/\\n!keep.log\\n' > .gitignore; mkdir -p a/b gone/deep c; echo 1 > a/b/one.py; echo 2 > gone/deep/two.py; echo 3 > gone/three.py; " +
		"echo 4 > c/tracked.log; echo 5 > c/kept; git add -f c/tracked.log; git add -A; git commit -qm base; echo 6 > c/artefact.log"})
	sandboxtest.Run(t, s, "echo 11 >> a/b/one.py; rm -r gone; echo 44 >> c/tracked.log; echo 66 >> c/artefact.log; mkdir -p build/x new/dir empty; "+
		"echo 7 > build/x/out; echo 8 > new/dir/file; echo 9 > new.log; echo 10 > keep.log; chmod +x c/kept; printf 'a\\000' > binary; rm -r a; mkdir -p a/b; echo 12 > a/b/other.py")
	got, err := s.Patch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Ours shows no binary file and no line of git's index.
	want := sandboxtest.Run(t, s, "rm binary; git add -A; git diff --cached --no-renames | grep -v '^index '").Output
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-git +ours):\n%s", diff)
	}
}
