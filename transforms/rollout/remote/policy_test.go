package remote

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestChoose: sticky while the place is of use or about to be, else the place with
// the fewest sessions.
func TestChoose(t *testing.T) {
	const limit = 2
	at := func(s state, version int64, inFlight, sessions int) *place {
		return &place{state: s, version: version, inFlight: inFlight, sessions: sessions}
	}
	for _, c := range []struct {
		name    string
		places  []*place
		held    int
		version int64
		want    int
	}{
		{"fewest sessions", []*place{at(up, 1, 0, 3), at(up, 1, 1, 2), at(up, 1, 0, 4)}, -1, 1, 1},
		{"first of equals", []*place{at(up, 1, 0, 2), at(up, 1, 0, 2)}, -1, 1, 0},
		{"stays", []*place{at(up, 1, 1, 9), at(up, 1, 0, 0)}, 0, 1, 0},
		{"waits for room where its prefix is", []*place{at(up, 1, 2, 9), at(up, 1, 0, 0)}, 0, 1, -1},
		{"waits for its weights", []*place{at(changing, 0, 0, 9), at(up, 1, 0, 0)}, 0, 1, -1},
		{"leaves what is down", []*place{at(down, none, 0, 1), at(up, 1, 0, 7)}, 0, 1, 1},
		{"leaves what missed the version", []*place{at(up, 0, 0, 1), at(up, 1, 0, 7)}, 0, 1, 1},
		{"full places are not chosen", []*place{at(up, 1, 2, 0), at(up, 1, 0, 5)}, -1, 1, 1},
		{"none of the version", []*place{at(up, 0, 0, 0), at(down, none, 0, 0)}, -1, 1, -1},
		{"nothing is published", []*place{at(up, none, 0, 0)}, -1, none, -1},
	} {
		if got := choose(c.places, c.held, c.version, limit); got != c.want {
			t.Errorf("%s: chose %d, want %d", c.name, got, c.want)
		}
	}
}

// TestSessionsAreSpread: sessions begin where the fewest are, and leave.
func TestSessionsAreSpread(t *testing.T) {
	p := open(t, config(newFake(t, OpenAI), newFake(t, SGLang), newFake(t, OpenAI)), "w")
	count := func() (out []int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, e := range p.endpoints {
			out = append(out, e.sessions)
		}
		return out
	}
	var sessions []*session
	for range 7 {
		sessions = append(sessions, begin(t, p))
	}
	if got := fmt.Sprint(count()); got != "[3 2 2]" {
		t.Errorf("spread %s", got)
	}
	for _, s := range sessions {
		s.Close()
		s.Close()
	}
	if got := fmt.Sprint(count()); got != "[0 0 0]" {
		t.Errorf("left %s", got)
	}
}

// TestInFlight: no server has more requests at a time than it may.
func TestInFlight(t *testing.T) {
	f := newFake(t, SGLang)
	cfg := config(f)
	cfg.InFlight = 2
	p := open(t, cfg, "w")
	hold := make(chan struct{})
	f.set(func(f *fake) { f.hold = hold })
	var all sync.WaitGroup
	for range 9 {
		s := begin(t, p)
		all.Go(func() {
			if _, err := s.Generate(t.Context(), []int32{1}, sampling); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "two requests", func() bool { return len(f.prompts()) == 2 })
	if got := p.Stats(); got.Active != 2 {
		t.Errorf("%d are active", got.Active)
	}
	close(hold)
	all.Wait()
	got := p.Stats()
	if f.peak != 2 || got.Requests != 9 || got.Failed != 0 || got.Sampled != 45 || got.Prompted != 9 || got.Active != 0 {
		t.Errorf("at most %d at a time; %+v", f.peak, got)
	}
}

// TestDetect: a server says what it is; it may come up after the policy.
func TestDetect(t *testing.T) {
	vllm, sgl, late := newFake(t, OpenAI), newFake(t, SGLang), newFake(t, OpenAI)
	late.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return true
	}
	p := open(t, config(vllm, sgl, late), "w")
	if _, ok := p.endpoints[0].dialect.(openAI); !ok {
		t.Errorf("the first is %T", p.endpoints[0].dialect)
	}
	if _, ok := p.endpoints[1].dialect.(sglang); !ok {
		t.Errorf("the second is %T", p.endpoints[1].dialect)
	}
	if p.Context() != 1000-sglangReserve {
		t.Errorf("context of %d", p.Context())
	}
	late.set(func(f *fake) { f.intercept = nil })
	eventually(t, "the third comes", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.endpoints[2].usable(0)
	})
}

// TestOpenRefuses: what cannot work is said before anything is sampled.
func TestOpenRefuses(t *testing.T) {
	gone := newFake(t, OpenAI)
	gone.server.Close()
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"nobody answers", func(c *Config) { c.Endpoints = []string{gone.server.URL} }, "no policy server is of use"},
		{"another model", func(c *Config) { c.Model = "other" }, `serves ["policy"], not "other"`},
		{"not SGLang", func(c *Config) { c.Dialect = SGLang }, "it is not SGLang"},
		{"key not set", func(c *Config) { c.APIKeyEnv = "POLICY_KEY_THAT_IS_NOT_SET" }, "environment variable POLICY_KEY_THAT_IS_NOT_SET is empty"},
		{"no key file", func(c *Config) { c.APIKeyFile = filepath.Join(t.TempDir(), "none") }, "reading the API key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(newFake(t, OpenAI))
			c.edit(&cfg)
			p, err := Open(t.Context(), cfg)
			if err == nil {
				p.Close()
			}
			wantError(t, err, c.want)
		})
	}
}

// TestPatience: sessions do not wait for ever for servers that are gone.
func TestPatience(t *testing.T) {
	f := newFake(t, OpenAI)
	cfg := config(f)
	cfg.Patience = 20 * time.Millisecond
	p := open(t, cfg, "w")
	s := begin(t, p)
	f.set(func(f *fake) {
		f.intercept = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	})
	_, err := s.Generate(t.Context(), []int32{1}, sampling)
	wantError(t, err, "waited 20ms for a server", "no policy server is of use", f.server.URL)
}

// TestClose: what waits is ended.
func TestClose(t *testing.T) {
	p, err := Open(t.Context(), config(newFake(t, OpenAI)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := p.Open(t.Context())
		done <- err
	}()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}

// TestValidate: everything that is wrong is said, and no password.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string // "" is valid
	}{
		{"defaults", func(*Config) {}, ""},
		{"final slash and v1", func(c *Config) { c.Endpoints = []string{"https://a:1/v1/", "http://a:1/proxy"} }, ""},
		{"none", func(c *Config) { c.Endpoints = nil }, "endpoints is empty"},
		{"twice", func(c *Config) { c.Endpoints = []string{"http://a:1/v1", "http://b:1", "http://a:1"} }, "endpoints[2] is endpoints[0] again"},
		{"password", func(c *Config) { c.Endpoints = []string{"http://me:hunter2@a:1"} }, "endpoints[0]: holds a user or password"},
		{"password in what is no URL", func(c *Config) { c.Endpoints = []string{"http://me:hunter2@a:1\x7f"} }, "endpoints[0]: is not a URL"},
		{"no scheme", func(c *Config) { c.Endpoints = []string{"a:1"} }, "want http://host:port"},
		{"query", func(c *Config) { c.Endpoints = []string{"http://a:1?key=hunter2"} }, "holds a query"},
		{"dialect", func(c *Config) { c.Dialect = "tgi" }, `dialect is "tgi"`},
		{"chat in training", func(c *Config) { c.Dialect = Chat }, "serves evaluation alone"},
		{"two keys", func(c *Config) { c.APIKeyEnv, c.APIKeyFile = "A", "b" }, "choose one"},
		{"no places", func(c *Config) { c.InFlight = 0 }, "in_flight is 0"},
		{"no deadline", func(c *Config) { c.RequestTime = 0 }, "must be positive"},
		{"short hand-over", func(c *Config) { c.HandOverTime = c.RequestTime }, "must be longer"},
		{"delays", func(c *Config) { c.LongestDelay = 1 }, "shorter than the first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Default()
			cfg.Endpoints = []string{"http://a:8000"}
			c.edit(&cfg)
			err := cfg.Validate()
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, c.want)
			if got := err.Error(); strings.Contains(got, "hunter2") {
				t.Errorf("the error holds the password: %s", got)
			}
		})
	}
}

// TestKeyFile: a key may have a line end, and nothing else that a header cannot hold.
func TestKeyFile(t *testing.T) {
	for text, want := range map[string]string{"key\n": "key", " \n": "is empty", "a b": "cannot"} {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := Config{APIKeyFile: file}.apiKey()
		if key != want {
			wantError(t, err, want, file)
		}
	}
}
