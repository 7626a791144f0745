package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/google/go-containerregistry/pkg/registry"

	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/docker/dockertest"
	"millrace/transforms/sandbox/sandboxtest"
)

// victimRun is set in a process that opens a sandbox and waits to be killed.
const victimRun = "MILLRACE_TEST_VICTIM_RUN"

func TestMain(m *testing.M) {
	if run, ok := os.LookupEnv(victimRun); ok {
		p, err := New(context.Background(), Config{Run: run})
		if err == nil {
			_, err = p.Open(context.Background(), "victim", sandbox.Spec{Image: dockertest.Python})
		}
		fmt.Println("open:", err)
		select {}
	}
	os.Exit(m.Run())
}

// containers counts those with a label, running or not.
func containers(t *testing.T, p *Provider, label, value string) int {
	t.Helper()
	list, err := p.api.ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label+"="+value))})
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestNothingIsLeftOfTheDead: what a killed process left is removed by the next
// provider on this host, and what a living one has is not.
func TestNothingIsLeftOfTheDead(t *testing.T) {
	dockertest.Need(t, dockertest.Python)
	living := provider(t, Config{Run: "living"})
	s := sandboxtest.Open(t, living, sandbox.Spec{Image: dockertest.Python})
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimRun+"=victim-of-"+t.Name())
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, _ := out.Read(line)
	if got := string(line[:n]); got != "open: <nil>\n" {
		t.Fatalf("the victim said %q", got)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	victim.Wait()
	if n := containers(t, living, labelRun, "victim-of-"+t.Name()); n != 1 {
		t.Fatalf("%d containers of the victim, want 1", n)
	}
	p := provider(t, Config{Run: "another"})
	if n := containers(t, p, labelRun, "victim-of-"+t.Name()); n != 0 {
		t.Errorf("%d containers of the victim are left", n)
	}
	if r := sandboxtest.Run(t, s, "echo alive"); r.Output != "alive\n" {
		t.Errorf("the living one's container: %+v", r)
	}
}

// TestFailuresAreTyped: each is a *sandbox.Failure of its type.
func TestFailuresAreTyped(t *testing.T) {
	dockertest.Need(t, dockertest.Python, dockertest.Busybox)
	p := provider(t, Config{PullTime: 3 * time.Second, SetupTime: 2 * time.Second})
	image := dockertest.Busybox
	open := func(p *Provider, spec sandbox.Spec) error {
		s, err := p.Open(t.Context(), "it", spec)
		if err == nil {
			s.Close()
		}
		return err
	}
	gone := func() error {
		s := sandboxtest.Open(t, p, sandbox.Spec{Image: image})
		id := s.(*box).id
		time.AfterFunc(300*time.Millisecond, func() { p.api.ContainerKill(context.Background(), id, "SIGKILL") })
		_, err := s.Exec(t.Context(), "sleep 60", time.Minute)
		return err
	}
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"no image":        {open(p, sandbox.Spec{}), sandbox.ErrUnsupported},
		"bad name":        {open(p, sandbox.Spec{Image: "no/Such Name"}), ErrImageMissing},
		"no workdir":      {open(p, sandbox.Spec{Image: image, Workdir: "/nowhere"}), ErrStart},
		"setup fails":     {open(p, sandbox.Spec{Image: image, Setup: "echo because >&2; exit 3"}), ErrSetup},
		"setup hangs":     {open(p, sandbox.Spec{Image: image, Setup: "sleep 60"}), ErrSetup},
		"container gone":  {gone(), ErrContainerGone},
		"no shell at all": {open(p, sandbox.Spec{Image: image, Setup: "rm /bin/sh"}), ErrStart},
	} {
		var failure *sandbox.Failure
		if !errors.As(c.err, &failure) || !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v (%T)", name, c.err, c.err)
		}
	}
	if err := open(p, sandbox.Spec{Image: image, Setup: "echo because >&2; exit 3"}); !strings.Contains(err.Error(), "because") {
		t.Errorf("the setup's own words are missing: %v", err)
	}
	if _, err := New(t.Context(), Config{Host: "tcp://127.0.0.1:1"}); !errors.Is(err, ErrDaemonGone) {
		t.Errorf("no daemon: %v", err)
	}
}

// TestPull: from a registry that refuses twice before it serves; one that always
// refuses; one that has no such image.
func TestPull(t *testing.T) {
	dockertest.Need(t, dockertest.Busybox)
	var refuse atomic.Int64
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/") || r.Method == http.MethodHead {
			if refuse.Add(-1) >= 0 {
				w.WriteHeader(http.StatusTooManyRequests)
				io.WriteString(w, `{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}`)
				return
			}
		}
		inner.ServeHTTP(w, r)
	}))
	defer server.Close()
	p := provider(t, Config{PullTime: 20 * time.Second})
	reference := strings.TrimPrefix(server.URL, "http://") + "/busybox:1"
	push(t, p.api.(*client.Client), reference)

	refuse.Store(2)
	s := sandboxtest.Open(t, p, sandbox.Spec{Image: reference})
	if r := sandboxtest.Run(t, s, "echo pulled"); r.Output != "pulled\n" {
		t.Errorf("%+v", r)
	}
	if refuse.Load() >= 0 {
		t.Error("the registry was not asked three times")
	}
	if digest := s.ImageDigest(); !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("digest %q", digest)
	}
	hurried := provider(t, Config{PullTime: time.Second})
	if _, err := hurried.Open(t.Context(), "absent", sandbox.Spec{Image: strings.Replace(reference, "busybox:1", "absent:1", 1)}); !errors.Is(err, ErrImageMissing) {
		t.Errorf("an image that the registry does not have: %v", err)
	}
	refuse.Store(1 << 30)
	if _, err := hurried.Open(t.Context(), "limited", sandbox.Spec{Image: strings.Replace(reference, "busybox:1", "other:1", 1)}); !errors.Is(err, ErrRateLimited) {
		t.Errorf("a registry that always refuses: %v", err)
	}
}

// push puts an image into a registry and removes that name here.
func push(t *testing.T, api *client.Client, reference string) {
	t.Helper()
	if err := api.ImageTag(t.Context(), dockertest.Busybox, reference); err != nil {
		t.Fatal(err)
	}
	out, err := api.ImagePush(t.Context(), reference, image.PushOptions{RegistryAuth: "e30="})
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(out)
	if err != nil || strings.Contains(string(said), `"error"`) {
		t.Fatalf("pushing: %s, %v", said, err)
	}
	if _, err := api.ImageRemove(t.Context(), reference, image.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.ImageRemove(context.Background(), reference, image.RemoveOptions{Force: true}) })
}

// TestSetupRunsOnce: for all sandboxes of equal specs, of this run and later ones.
func TestSetupRunsOnce(t *testing.T) {
	dockertest.Need(t, dockertest.Python)
	spec := sandbox.Spec{Image: dockertest.Python, Setup: "head -c 16 /dev/urandom | od -An -tx1 > once # " + unique(t)}
	read := func(p *Provider) string {
		data, err := sandboxtest.Open(t, p, spec).ReadFile("once")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	p := provider(t, Config{})
	first, second := read(p), read(p)
	if third := read(provider(t, Config{})); first != second || first != third {
		t.Errorf("three sandboxes hold %q, %q, %q", first, second, third)
	}
}

func unique(t *testing.T) string { return fmt.Sprint(t.Name(), time.Now().UnixNano()) }

// TestPrepare: a sandbox is one of the containers that were started ahead, and
// those that nobody comes for are removed.
func TestPrepare(t *testing.T) {
	dockertest.Need(t, dockertest.Busybox)
	p := provider(t, Config{Warm: 2, WarmTime: 2 * time.Second})
	spec := sandbox.Spec{Image: dockertest.Busybox}
	p.Prepare(spec, 5)
	eventually(t, "two warm containers", func() bool { p.pool.mu.Lock(); defer p.pool.mu.Unlock(); return p.pool.count == 2 })
	p.pool.mu.Lock()
	ahead := map[string]bool{}
	for _, list := range p.pool.waiting {
		for _, w := range list {
			ahead[w.id] = true
		}
	}
	p.pool.mu.Unlock()
	s := sandboxtest.Open(t, p, spec)
	if !ahead[s.(*box).id] {
		t.Error("the sandbox is a new container")
	}
	if r := sandboxtest.Run(t, s, "echo warm"); r.Output != "warm\n" {
		t.Errorf("%+v", r)
	}
	eventually(t, "one container, the opened one", func() bool { return containers(t, p, labelOwner, p.owner.String()) == 1 })
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 300 {
		if f() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// TestImageBudget: prepared images over the budget go, the oldest first, but not
// those in use.
func TestImageBudget(t *testing.T) {
	dockertest.Need(t, dockertest.Busybox)
	p := provider(t, Config{ImageBytes: 1})
	spec := func(n int) sandbox.Spec {
		return sandbox.Spec{Image: dockertest.Busybox, Setup: fmt.Sprintf("echo %d > n # %s", n, t.Name())}
	}
	there := func(s sandbox.Sandbox) bool {
		_, err := p.images.inspect(t.Context(), s.(*box).image.reference)
		return err == nil
	}
	var boxes []sandbox.Sandbox
	for n := range 3 {
		s, err := p.Open(t.Context(), t.Name(), spec(n))
		if err != nil {
			t.Fatal(err)
		}
		boxes = append(boxes, s)
		if n == 0 {
			s.Close()
		}
	}
	defer boxes[1].Close()
	defer boxes[2].Close()
	for n, want := range []bool{false, true, true} {
		if there(boxes[n]) != want {
			t.Errorf("image %d is there: %t, want %t", n, !want, want)
		}
	}
	s := sandboxtest.Open(t, p, spec(0)) // made again
	if r := sandboxtest.Run(t, s, "cat n"); r.Output != "0\n" {
		t.Errorf("%+v", r)
	}
}
