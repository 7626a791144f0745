package taskset

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"millrace/schemas"
)

// TestDraw: the numbers are those of Python's
// int.from_bytes(hashlib.sha256(struct.pack("<Q", seed) + key).digest()[:8], "big") >> 11, over 2**53.
func TestDraw(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		key  string
		want float64
	}{
		{0, "", 0.6848974799809221},
		{0, "astropy__astropy-12907", 0.31122289438125306},
		{7, "astropy__astropy-12907", 0.728140457724446},
		{18446744073709551615, "é", 0.691801536167874},
	} {
		if got := draw(c.seed, c.key); got != c.want {
			t.Errorf("draw(%d, %q) = %v, want %v", c.seed, c.key, got, c.want)
		}
	}
}

func taskOfRepo(i, repos int) schemas.Task {
	return schemas.Task{ID: fmt.Sprintf("acme__r%d-%d", i%repos, i), Repo: fmt.Sprintf("acme/r%d", i%repos), Split: "was"}
}

// TestShares: with 20,000 tasks the share of a part is within five standard
// deviations of sqrt(p (1 - p) n) of its setting.
func TestShares(t *testing.T) {
	const n = 20000
	s := Splitter{Parts: []Part{{"dev", 0.1}, {"test", 0.25}, {"train", 0.65}}, Seed: 7}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for i := range n {
		got[s.Split(taskOfRepo(i, 100))]++
	}
	for _, p := range s.Parts {
		if bound := 5 * math.Sqrt(p.Share*(1-p.Share)*n); math.Abs(got[p.Name]-p.Share*n) > bound {
			t.Errorf("%s has %v tasks, want %v ± %v", p.Name, got[p.Name], p.Share*n, bound)
		}
	}
}

// TestSplitKeepsTogether: by repository a repository is in one part, in whatever
// form its name stands, and another seed draws otherwise.
func TestSplitKeepsTogether(t *testing.T) {
	parts := []Part{{"dev", 0.5}, {"train", 0.5}}
	byRepo := Splitter{Parts: parts, ByRepo: true}
	other := Splitter{Parts: parts, ByRepo: true, Seed: 1}
	of, differ := map[string]string{}, 0
	for i := range 1000 {
		task := taskOfRepo(i, 50)
		split := byRepo.Split(task)
		if was := of[task.Repo]; was != "" && was != split {
			t.Fatalf("%s is in %s and in %s", task.Repo, was, split)
		}
		of[task.Repo] = split
		mirrored := schemas.Task{ID: "x", Repo: "swesmith/" + strings.ReplaceAll(strings.ToUpper(task.Repo), "/", "__") + ".0a1b2c3d"}
		if got := byRepo.Split(mirrored); got != split {
			t.Fatalf("%s is in %s, %s in %s", task.Repo, split, mirrored.Repo, got)
		}
		if other.Split(task) != split {
			differ++
		}
	}
	if differ == 0 {
		t.Error("the seed changes nothing")
	}
}

func TestSplitByName(t *testing.T) {
	s := Splitter{Repos: map[string]string{"acme/r1": "heldout"}}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ repo, want string }{{"Acme/R1", "heldout"}, {"acme__r1", "heldout"}, {"acme/r2", "was"}} {
		if got := s.Split(schemas.Task{ID: "a", Repo: c.repo, Split: "was"}); got != c.want {
			t.Errorf("%s is in %q, want %q", c.repo, got, c.want)
		}
	}
}

func TestSplitterValidate(t *testing.T) {
	for _, c := range []struct {
		s    Splitter
		want []string
	}{
		{Splitter{}, []string{"nothing says how to split"}},
		{Splitter{Parts: []Part{{"a", 0.5}, {"a", 0.6}}}, []string{"named twice", "add up to 1.1"}},
		{Splitter{Parts: []Part{{"a", math.NaN()}, {" ", -1}}}, []string{"part a: share NaN", "blank", "add up to NaN"}},
		{Splitter{Repos: map[string]string{"a/b": ""}}, []string{"a/b: blank split"}},
	} {
		err := c.s.Validate()
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: error %v, want %q in it", c.s, err, want)
			}
		}
	}
}
