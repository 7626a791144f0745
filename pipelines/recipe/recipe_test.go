package recipe

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/kernels"
	"millrace/pipelines/settings"
	"millrace/transforms/advantage"
	"millrace/transforms/learn"
)

func TestRecipesAreValid(t *testing.T) {
	want := []string{"cispo", "dapo", "deepswe", "dr-grpo", "gspo", "grpo", "grpo++", "rloo", "swe-rl"}
	slices.Sort(want)
	if !slices.Equal(Names(), want) {
		t.Errorf("recipes are %v, want %v", Names(), want)
	}
	for _, name := range Names() {
		r, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.AdvantageConfig(3072).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ByName("ppo"); err == nil || !strings.Contains(err.Error(), `recipe is "ppo": want one of cispo, dapo`) {
		t.Errorf("an unknown recipe: %v", err)
	}
}

// What the other parts of the program take by default is the default recipe's.
func TestDefaultsAreTheDefaultRecipes(t *testing.T) {
	r, err := ByName(Default)
	if err != nil {
		t.Fatal(err)
	}
	if got := learn.Defaults(); got.Objective != r.Objective || got.MaxDraws != r.MaxDraws {
		t.Errorf("the learner's default is %+v, the recipe's %+v", got.Objective, r.Objective)
	}
	if got := advantage.DefaultConfig(); got != r.AdvantageConfig(1) {
		t.Errorf("the advantage stage's default is %+v, the recipe's %+v", got, r.AdvantageConfig(1))
	}
}

// Reference: DAPO, arXiv:2503.14476, section 4.1: of 20,480 tokens 4,096 are the
// buffer; at most 10 batches are drawn (verl's max_num_gen_batches).
func TestDAPO(t *testing.T) {
	r, err := ByName("dapo")
	if err != nil {
		t.Fatal(err)
	}
	c := r.AdvantageConfig(20480)
	if want := (advantage.Overlong{Max: 20480, Buffer: 4096}); c.Overlong != want || !c.ExcludeEqual || r.MaxDraws != 10 {
		t.Errorf("%+v, %d draws", c, r.MaxDraws)
	}
	r, err = Overrides{OverlongMax: new(1000)}.Over(r)
	if want := (advantage.Overlong{Max: 1000, Buffer: 200}); err != nil || r.AdvantageConfig(20480).Overlong != want {
		t.Errorf("%+v, %v", r.AdvantageConfig(20480).Overlong, err)
	}
}

// TestWholeReadsBack: the values of a recipe, printed and laid over any other, give
// that recipe again.
func TestWholeReadsBack(t *testing.T) {
	for _, name := range Names() {
		want, _ := ByName(name)
		text, err := settings.Print(want.Whole())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "algorithm.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var read Overrides
		if err := settings.Load(path, nil, &read); err != nil {
			t.Fatal(err)
		}
		for _, other := range Names() {
			base, _ := ByName(other)
			got, err := read.Over(base)
			got.Reward = want.Reward // score.rewards overrides it
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s over %s: %v\n%s", name, other, err, diff)
			}
		}
	}
}

// TestEachOverrideIsOne: every field changes exactly one value, zero values too, and
// the empty overrides change none.
func TestEachOverrideIsOne(t *testing.T) {
	full := Recipe{
		Reward: Tests, Filter: "a", Estimator: "b", OverlongBuffer: .5, OverlongMax: 3, MaxDraws: 2,
		Objective: learn.Objective{Aggregation: "c", Loss: kernels.Loss{
			SequenceRatio: true, ClippedWeight: true, ClipLow: .1, ClipHigh: .2, DualClip: 3, TruncatedIS: 4, KLCoefficient: 5, EntropyCoefficient: 6,
		}},
	}
	if got, err := (Overrides{}).Over(full); err != nil || got != full {
		t.Errorf("no overrides make %+v", got)
	}
	differences := map[string]bool{}
	for i := range reflect.TypeFor[Overrides]().NumField() {
		var o Overrides
		field := reflect.ValueOf(&o).Elem().Field(i)
		zero := reflect.New(field.Type().Elem())
		switch name := reflect.TypeFor[Overrides]().Field(i).Name; name {
		case "Ratio":
			zero.Elem().SetString(TokenRatio)
		case "Surrogate":
			zero.Elem().SetString(ClippedObjective)
		}
		field.Set(zero)
		got, err := o.Over(full)
		if err != nil {
			t.Fatal(err)
		}
		var at []string
		cmp.Equal(full, got, cmp.Reporter(&paths{at: &at}))
		if len(at) != 1 || differences[at[0]] {
			t.Errorf("override %d changes %v", i, at)
			continue
		}
		differences[at[0]] = true
	}
}

// paths reports where two values differ.
type paths struct {
	path cmp.Path
	at   *[]string
}

func (p *paths) PushStep(s cmp.PathStep) { p.path = append(p.path, s) }
func (p *paths) PopStep()                { p.path = p.path[:len(p.path)-1] }
func (p *paths) Report(r cmp.Result) {
	if !r.Equal() {
		*p.at = append(*p.at, p.path.String())
	}
}

// TestLeaveOneComponentOut: each part of GRPO++ can be taken back to GRPO's choice by
// overrides alone, and all of them together are GRPO.
func TestLeaveOneComponentOut(t *testing.T) {
	grpo, _ := ByName("grpo")
	plus, _ := ByName("grpo++")
	all := plus
	for name, o := range map[string]Overrides{
		"clip high":                     {ClipHigh: new(0.2)},
		"no KL":                         {KLCoefficient: new(0.001)},
		"no std":                        {Estimator: new("leave-one-out-standardized")},
		"constant length normalisation": {Aggregation: new("sequence-mean")},
		"leave-one-out":                 {Estimator: new("centered")},
		"compact filtering":             {Filter: new("none")},
		"no entropy bonus":              {EntropyCoefficient: new(0.001)},
	} {
		r, err := o.Over(plus)
		if err != nil || r.Validate() != nil || r == plus {
			t.Errorf("%s: %+v, %v, %v", name, r, err, r.Validate())
		}
		if o.Estimator == nil && o.EntropyCoefficient == nil { // GRPO has no bonus as published
			all, _ = o.Over(all)
		}
	}
	all, _ = Overrides{Estimator: new("standardized")}.Over(all)
	if diff := cmp.Diff(grpo, all); diff != "" {
		t.Errorf("all parts taken back are not GRPO:\n%s", diff)
	}
}

func TestValidateTellsEverything(t *testing.T) {
	r, _ := ByName("grpo++")
	r, err := Overrides{
		Filter: new("tight"), Estimator: new("median"), OverlongBuffer: new(2.), OverlongMax: new(-1), MaxDraws: new(0),
		ClipLow: new(-1.), Aggregation: new("mean"),
	}.Over(r)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Validate()
	for _, want := range []string{`mode "tight"`, `estimator is "median"`, "overlong_buffer is 2", "overlong_max is -1", "max_draws is 0", "clips at -1", `aggregation "mean"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not tell %s", err, want)
		}
	}
	for name, c := range map[string]struct {
		recipe string
		o      Overrides
		want   string
	}{
		"a word":                     {"grpo", Overrides{Ratio: new("group")}, `ratio is "group": want token or sequence`},
		"another word":               {"grpo", Overrides{Surrogate: new("ppo")}, `surrogate is "ppo": want clipped-objective or clipped-weight`},
		"truncation under sequences": {"gspo", Overrides{TruncatedIS: new(2.)}, "the ratio is 1"},
		"a maximum of nothing":       {"grpo", Overrides{OverlongMax: new(100)}, "nothing would be punished"},
	} {
		r, _ := ByName(c.recipe)
		r, err := c.o.Over(r)
		if err == nil {
			err = r.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestDocumentHasEveryRecipeAndKey holds docs/recipes.md to the table and the keys.
func TestDocumentHasEveryRecipeAndKey(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, name := range Names() {
		words = append(words, "`"+name+"`")
	}
	overrides := reflect.TypeFor[Overrides]()
	for i := range overrides.NumField() {
		key, _, _ := strings.Cut(overrides.Field(i).Tag.Get("yaml"), ",")
		words = append(words, "`"+key+"`")
	}
	for _, word := range slices.Concat(advantage.Names(), learn.Aggregations()) {
		words = append(words, "`"+word+"`")
	}
	for _, word := range words {
		if !regexp.MustCompile(`(?m)^\|.*` + regexp.QuoteMeta(word)).Match(text) {
			t.Errorf("no row of docs/recipes.md has %s", word)
		}
	}
}
