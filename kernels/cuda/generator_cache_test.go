package cuda

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

// pageBytes are those of a page of the model in float32.
func pageBytes() uint64 {
	return uint64(model.NumHiddenLayers * 2 * model.NumKeyValueHeads * pageTokens * model.HeadDim * 4)
}

// TestPublishIsAnAddress: tokens are those of the weights published last, each tells its
// version, steps in between do not show, and nothing is copied to the host or back.
func TestPublishIsAnAddress(t *testing.T) {
	d := open(t)
	r := random(t)
	loss := kernels.Loss{Divisor: 1}
	trainer := newTrainer(t, d, model, initialWeights(t, 3), Options{})
	twin := newTrainer(t, d, model, initialWeights(t, 3), Options{})
	g := newGenerator(t, d, trainer.Weights(), GeneratorOptions{})
	s := newSession(t, g)
	sequences := batch(r, 30)
	first := generate(t, s, []int32{1, 2, 3}, turn)
	step(t, trainer, sequences, loss)
	step(t, twin, sequences, loss)
	unpublished := generate(t, newSession(t, g), []int32{1, 2, 3}, turn)
	same(t, "after a step that is not published", unpublished, first, 0)

	if err := g.Publish(2, trainer.Weights()); err != nil {
		t.Fatal(err)
	}
	if g.Version() != 2 || g.own != nil {
		t.Errorf("version is %d, the generator has its own copy: %v", g.Version(), g.own != nil)
	}
	// A generator that got the stepped weights through the host.
	tensors := kernels.Tensors(tensorsOf(t, twin))
	kernelstest.EqualBits(t, tensors, tensorsOf(t, trainer))
	host := newGenerator(t, d, tensors, GeneratorOptions{})
	if err := host.Publish(2, tensors); err != nil {
		t.Fatal(err)
	}
	published := generate(t, newSession(t, g), []int32{1, 2, 3}, turn)
	same(t, "after publishing", published, generate(t, newSession(t, host), []int32{1, 2, 3}, turn), 0)
	if slices.Equal(published.LogProbs, first.LogProbs) {
		t.Error("a step changes no log-probability")
	}
	// The first session goes on, with the pages that the first weights made.
	second := generate(t, s, []int32{4}, turn)
	if !slices.Equal(first.Versions, slices.Repeat([]int32{1}, turn.MaxTokens)) || !slices.Equal(second.Versions, slices.Repeat([]int32{2}, turn.MaxTokens)) {
		t.Errorf("versions are %v, then %v", first.Versions, second.Versions)
	}
}

// TestPublishWithinACall: the version rises once, from one token to the next.
func TestPublishWithinACall(t *testing.T) {
	d := open(t)
	weights := initialWeights(t, 3)
	g := newGenerator(t, d, weights, GeneratorOptions{})
	s := newSession(t, g)
	done := make(chan kernels.Completion)
	go func() { done <- generate(t, s, []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: 90}) }()
	kernelstest.WaitForToken(g)
	if err := g.Publish(2, weights); err != nil {
		t.Fatal(err)
	}
	c := <-done
	if len(c.Versions) != 90 || !slices.IsSorted(c.Versions) || c.Versions[0] != 1 {
		t.Errorf("versions are %v", c.Versions)
	}
}

// TestPrefixIsShared: rollouts of one prompt read its full pages once, also when they all
// begin together, and sample as they do alone; weights that are published end the sharing.
func TestPrefixIsShared(t *testing.T) {
	d := open(t)
	weights := initialWeights(t, 3)
	question := prompt(random(t), pageTokens+9)
	alone := func(seed uint64) kernels.Completion {
		sampling := turn
		sampling.Seed = seed
		return generate(t, newSession(t, newGenerator(t, d, weights, GeneratorOptions{})), question, sampling)
	}
	g := newGenerator(t, d, weights, GeneratorOptions{})
	var group sync.WaitGroup
	completions := make([]kernels.Completion, 4)
	for i := range completions {
		s := newSession(t, g)
		group.Go(func() {
			sampling := turn
			sampling.Seed = uint64(i)
			completions[i] = generate(t, s, question, sampling)
		})
	}
	group.Wait()
	for i, got := range completions {
		same(t, "in a group", got, alone(uint64(i)), 0)
	}
	want := int64(pageTokens * (len(completions) - 1))
	if got := g.CacheStats().Adopted; got != want {
		t.Errorf("%d tokens are shared, want %d", got, want)
	}
	if got := g.Stats().Prefilled; got != int64(len(question)*len(completions))-want {
		t.Errorf("%d tokens are read, want each shared page read once", got)
	}
	if err := g.Publish(2, weights); err != nil {
		t.Fatal(err)
	}
	generate(t, newSession(t, g), question, turn)
	if got := g.CacheStats().Adopted; got != want {
		t.Errorf("%d tokens of the old weights' pages are shared with a new sequence", got-want)
	}
}

// TestPreemptionDoesNotShow: with pages for two sequences, five of two pages each sample as
// they do alone, and all end.
func TestPreemptionDoesNotShow(t *testing.T) {
	d := open(t)
	weights := initialWeights(t, 3)
	r := random(t)
	small := GeneratorOptions{CacheBytes: 4 * pageBytes()} // one is the padding's
	g := newGenerator(t, d, weights, small)
	if got := g.CacheStats().Pages; got != 3 {
		t.Fatalf("the cache has %d pages, want 3", got)
	}
	wide := newGenerator(t, d, weights, GeneratorOptions{})
	var all sync.WaitGroup
	for range 5 {
		first, second := prompt(r, 55), prompt(r, 5)
		sampling := turn
		sampling.Seed = r.Uint64()
		tight, alone := newSession(t, g), newSession(t, wide)
		all.Go(func() {
			for _, p := range [][]int32{first, second} {
				got, want := generate(t, tight, p, sampling), generate(t, alone, p, sampling)
				if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(got.LogProbs, want.LogProbs) {
					t.Errorf("tokens %v with log-probabilities %v, want %v, %v", got.Tokens, got.LogProbs, want.Tokens, want.LogProbs)
				}
			}
			tight.Close()
		})
	}
	all.Wait()
	stats := g.CacheStats()
	if stats.Preempted == 0 || stats.Available != stats.Pages {
		t.Errorf("%+v: want some preempted and all pages given back", stats)
	}
}

// TestSequenceLargerThanTheCache: it ends with an error that names both, and others go on.
func TestSequenceLargerThanTheCache(t *testing.T) {
	d := open(t)
	g := newGenerator(t, d, initialWeights(t, 3), GeneratorOptions{CacheBytes: 2 * pageBytes()})
	s := newSession(t, g)
	_, err := s.Generate(t.Context(), make([]int32, 70), turn)
	if !errors.Is(err, ErrOutOfMemory) || !strings.Contains(err.Error(), "70 tokens") || !strings.Contains(err.Error(), "holds 64") {
		t.Errorf("a sequence of 70 tokens in a cache of 64: %v", err)
	}
	if _, err := s.Generate(t.Context(), nil, turn); err == nil {
		t.Error("its session takes another call")
	}
	generate(t, newSession(t, g), []int32{1}, turn)
	_, err = d.NewGenerator(model, initialWeights(t, 3), 1, GeneratorOptions{CacheBytes: pageBytes()})
	if !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("a cache without a page: %v", err)
	}
}
