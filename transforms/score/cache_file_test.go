package score

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/transforms/testlog"
)

// A restarted scorer makes no run again, whatever a crash did to the last line.
func TestCacheSurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores")
	keep := func(c *Config) { c.CacheFile = path }
	first := &fakeProvider{exec: solvedWhen("right\n")}
	s := newScorer(t, first, keep)
	solved, unsolved := trajectory(aTask("wrong\n"), patchA("wrong", "right")), trajectory(aTask("wrong\n"), "")
	want := score(t, s, solved)
	score(t, s, unsolved)

	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`0badc0de {"k":"torn`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	second := &fakeProvider{exec: solvedWhen("right\n")}
	s = newScorer(t, second, keep)
	got := score(t, s, solved)
	if second.opens != 0 || !got.Cached {
		t.Errorf("the run was made again: %d sandboxes", second.opens)
	}
	got.Cached, got.Duration, want.Duration = false, 0, 0
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reward after the restart, -want +got:\n%s", d)
	}
	score(t, s, trajectory(aTask("third\n"), "")) // behind the torn line

	third := &fakeProvider{exec: solvedWhen("right\n")}
	s = newScorer(t, third, keep)
	score(t, s, trajectory(aTask("third\n"), ""))
	score(t, s, unsolved)
	if third.opens != 0 {
		t.Errorf("%d runs were lost", third.opens)
	}
}

// A flipped bit anywhere in a line loses that line and no other.
func TestDamagedLineIsSkipped(t *testing.T) {
	file := func() []byte {
		path := filepath.Join(t.TempDir(), "scores")
		c, err := openCacheFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"one", "two", "three"} {
			c.append(key, Run{testlog.Results{Verdicts: []testlog.Verdict{{Test: "Test" + key, Status: testlog.Passed}}}})
		}
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}()
	load := func(b []byte) (keys []string) {
		if _, err := readCache(bytes.NewReader(b), func(k string, _ Run) { keys = append(keys, k) }); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	if got := load(file); !cmp.Equal(got, []string{"one", "two", "three"}) {
		t.Fatalf("keys %v", got)
	}
	second := bytes.IndexByte(file, '\n') + 1
	for i := second; file[i] != '\n'; i++ {
		for bit := range 8 {
			b := bytes.Clone(file)
			if b[i] ^= 1 << bit; b[i] == '\n' {
				continue // makes two lines, both damaged
			}
			if got := load(b); !cmp.Equal(got, []string{"one", "three"}) {
				t.Fatalf("bit %d of byte %d flipped: keys %v", bit, i, got)
			}
		}
	}
	long := append([]byte(strings.Repeat("x", 3*maxLine)+"\n"), file...)
	if got := load(long); len(got) != 3 {
		t.Errorf("behind a line of %d bytes: keys %v", 3*maxLine, got)
	}
}

func TestCacheFileCannotBeOpened(t *testing.T) {
	c := DefaultConfig()
	c.CacheFile = filepath.Join(t.TempDir(), "missing", "scores")
	if _, err := NewScorer(c, &fakeProvider{}); err == nil || !strings.Contains(err.Error(), c.CacheFile) {
		t.Errorf("error %v does not name the file", err)
	}
}

// A cache that cannot grow does not stop the scoring, and says so at the end.
func TestCacheFileCannotGrow(t *testing.T) {
	c, err := openCacheFile(filepath.Join(t.TempDir(), "scores"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.f.Close(); err != nil {
		t.Fatal(err)
	}
	c.append("key", Run{})
	if err := c.close(); err == nil || !strings.Contains(err.Error(), "appending to the score cache") {
		t.Errorf("error %v", err)
	}
}

// FuzzReadCache: no input panics or is refused, and every line that is accepted
// is accepted again when written.
func FuzzReadCache(f *testing.F) {
	body, _ := json.Marshal(cacheLine{"key", Run{testlog.Results{TimedOut: true}}})
	f.Add([]byte(checksum(body) + " " + string(body) + "\n"))
	f.Add([]byte("00000000 {}\n"))
	f.Add([]byte("\n\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := readCache(bytes.NewReader(b), func(key string, run Run) {
			body, err := json.Marshal(cacheLine{key, run})
			if err != nil {
				t.Fatal(err)
			}
			if l, ok := parseCacheLine([]byte(checksum(body) + " " + string(body))); !ok || l.Key != key {
				t.Fatalf("line %q was accepted and not again", body)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestConfigReportsEverything(t *testing.T) {
	err := Config{Backoff: -1}.Validate()
	if err == nil {
		t.Fatal("the empty config was accepted")
	}
	for _, want := range []string{"test timeout", "setup timeout", "attempts", "backoff", "cache entries"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not name %s", err, want)
		}
	}
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}
