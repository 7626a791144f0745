package remote

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"millrace/kernels"
)

// servers are the kinds whose weights are changed.
var servers = []struct {
	name, dialect string
	named         bool
}{{"vLLM", OpenAI, false}, {"vLLM with weight_info", OpenAI, true}, {"SGLang", SGLang, true}}

// TestCompletionIsOfOneVersion: a hand-over waits for the completion under way,
// which is of the old version to its last token; the next is of the new one, and is
// not sent before the weights have changed.
func TestCompletionIsOfOneVersion(t *testing.T) {
	for _, kind := range servers {
		t.Run(kind.name, func(t *testing.T) {
			f := newFake(t, kind.dialect)
			f.named = kind.named
			p := open(t, config(f), "old")
			hold := make(chan struct{})
			f.set(func(f *fake) { f.hold = hold })
			first, second := begin(t, p), begin(t, p)
			got := make(chan kernels.Completion, 1)
			go func() {
				c, err := first.Generate(t.Context(), []int32{1}, sampling)
				if err != nil {
					t.Error(err)
				}
				got <- c
			}()
			eventually(t, "the first request arrives", func() bool { return len(f.prompts()) == 1 })
			published := make(chan error, 1)
			go func() { published <- p.Publish(t.Context(), 1, "new") }()
			eventually(t, "the hand-over begins", func() bool { return p.Version() == 1 })
			late := make(chan kernels.Completion, 1)
			go func() {
				c, err := second.Generate(t.Context(), []int32{1, 2}, sampling)
				if err != nil {
					t.Error(err)
				}
				late <- c
			}()
			eventually(t, "the endpoint is closed", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return p.endpoints[0].state == changing
			})
			if n := len(f.prompts()); n != 1 {
				t.Errorf("%d requests while the weights change", n)
			}
			f.set(func(f *fake) { f.hold = nil })
			close(hold)
			before := <-got
			if err := <-published; err != nil {
				t.Fatal(err)
			}
			after := <-late
			sampledBy(t, "old", 1, before.Tokens)
			sampledBy(t, "new", 2, after.Tokens)
			if before.Versions[4] != 0 || after.Versions[0] != 1 {
				t.Errorf("versions %v and %v, want 0 and 1", before.Versions, after.Versions)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.paused {
				t.Error("the server is still paused")
			}
		})
	}
}

// TestManyHandOvers: whatever happens at the same time, a token of version v is of
// the weights published as v.
func TestManyHandOvers(t *testing.T) {
	for _, kind := range servers {
		t.Run(kind.name, func(t *testing.T) {
			a, b := newFake(t, kind.dialect), newFake(t, kind.dialect)
			a.named, b.named = kind.named, kind.named
			cfg := config(a, b)
			cfg.InFlight = 3
			p := open(t, cfg, "v0")
			dirs := []string{"v0", "v1", "v2", "v3", "v4", "v5"}
			var work sync.WaitGroup
			for range 12 {
				s := begin(t, p)
				work.Go(func() {
					for range 15 {
						at := s.Len() + 1
						c, err := s.Generate(t.Context(), []int32{1}, sampling)
						if err != nil {
							t.Error(err)
							return
						}
						sampledBy(t, dirs[c.Versions[0]], at, c.Tokens)
					}
				})
			}
			for version, dir := range dirs[1:] {
				if err := p.Publish(t.Context(), int64(version+1), dir); err != nil {
					t.Error(err)
				}
			}
			work.Wait()
			if a.peak > 3 || b.peak > 3 || len(a.prompts()) == 0 || len(b.prompts()) == 0 {
				t.Errorf("%d and %d requests, at most %d and %d at a time", len(a.prompts()), len(b.prompts()), a.peak, b.peak)
			}
		})
	}
}

// TestStrangerChangesWeights: an answer of weights that were not published is not
// used; the server gets the published ones back.
func TestStrangerChangesWeights(t *testing.T) {
	f := newFake(t, SGLang)
	cfg := config(f)
	cfg.HealthEvery = time.Hour // only the answer can tell
	p := open(t, cfg, "ours")
	s := begin(t, p)
	f.set(func(f *fake) { f.weights, f.name = "theirs", "theirs" })
	done := make(chan error, 1)
	go func() {
		c, err := s.Generate(t.Context(), []int32{1}, sampling)
		sampledBy(t, "ours", 1, c.Tokens)
		done <- err
	}()
	eventually(t, "the server is set aside", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return errors.Is(p.endpoints[0].err, errOtherWeights)
	})
	p.settle(t.Context(), p.endpoints[0]) // what the background does in an hour
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestServerRestarts: a server that comes back with the weights of its command line
// gets the published ones before it is used.
func TestServerRestarts(t *testing.T) {
	for _, kind := range servers {
		t.Run(kind.name, func(t *testing.T) {
			f := newFake(t, kind.dialect)
			f.named = kind.named
			p := open(t, config(f), "trained")
			s := begin(t, p)
			f.set(func(f *fake) {
				f.intercept = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
			})
			eventually(t, "the server is missed", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return p.endpoints[0].state == down
			})
			f.set(func(f *fake) { f.intercept, f.weights, f.name = nil, "base", "default" })
			c, err := s.Generate(t.Context(), []int32{1}, sampling)
			if err != nil {
				t.Fatal(err)
			}
			sampledBy(t, "trained", 1, c.Tokens)
		})
	}
}

// TestBlipDoesNotReload: a server that names its weights, and still has them, does
// not load them again after it was out of reach.
func TestBlipDoesNotReload(t *testing.T) {
	f := newFake(t, SGLang)
	p := open(t, config(f), "w")
	p.setDown(p.endpoints[0], errors.New("a blip"))
	if _, err := begin(t, p).Generate(t.Context(), []int32{1}, sampling); err != nil {
		t.Fatal(err)
	}
	if n := f.called("POST /update_weights_from_disk"); n != 1 {
		t.Errorf("loaded %d times", n)
	}
}

// TestPublishFails: a server that cannot take a version is set aside, and taken in
// when it can; that none can is an error that says what each said.
func TestPublishFails(t *testing.T) {
	for _, kind := range servers {
		t.Run(kind.name, func(t *testing.T) {
			good, bad := newFake(t, kind.dialect), newFake(t, kind.dialect)
			good.named, bad.named = kind.named, kind.named
			p := open(t, config(good, bad), "old")
			bad.set(func(f *fake) { f.loadError = "no such file: new" })
			if err := p.Publish(t.Context(), 1, "new"); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				c, err := begin(t, p).Generate(t.Context(), []int32{1}, sampling)
				if err != nil {
					t.Fatal(err)
				}
				sampledBy(t, "new", 1, c.Tokens)
			}
			if n := len(bad.prompts()); n != 0 {
				t.Errorf("the server without the version was asked %d times", n)
			}
			bad.set(func(f *fake) { f.loadError = "" })
			eventually(t, "the other server is taken in", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return p.endpoints[1].usable(1)
			})
			bad.set(func(f *fake) {
				if f.paused {
					t.Error("the server is still paused")
				}
			})
			good.set(func(f *fake) { f.loadError = "no such file: newer" })
			bad.set(func(f *fake) { f.loadError = "no such file: newer" })
			wantError(t, p.Publish(t.Context(), 2, "newer"), "publishing policy version 2", "no such file: newer", good.server.URL, bad.server.URL)
			cfg := config(good)
			cfg.Patience = 10 * time.Millisecond
			_, err := open(t, cfg, "").Open(t.Context())
			wantError(t, err, "no policy version is published yet")
		})
	}
}

// TestPublishAgain: the same version is handed over again when it is published
// again, as by a run that is resumed.
func TestPublishAgain(t *testing.T) {
	for _, kind := range servers {
		f := newFake(t, kind.dialect)
		f.named = kind.named
		p := open(t, config(f), "one")
		if err := p.Publish(t.Context(), 0, "other"); err != nil {
			t.Fatal(err)
		}
		c, err := begin(t, p).Generate(t.Context(), []int32{1}, sampling)
		if err != nil {
			t.Fatal(err)
		}
		sampledBy(t, "other", 1, c.Tokens)
	}
}

// TestDevelopmentMode: vLLM without its weight calls is told how to have them.
func TestDevelopmentMode(t *testing.T) {
	f := newFake(t, OpenAI)
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/pause" {
			http.NotFound(w, r)
			return true
		}
		return false
	}
	wantError(t, open(t, config(f), "").Publish(t.Context(), 0, "w"), "VLLM_SERVER_DEV_MODE=1")
}
