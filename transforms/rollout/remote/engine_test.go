package remote

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cpu"
	"millrace/kernels/tokenizer"
	"millrace/schemas"
	"millrace/transforms/rollout"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox"
)

// shipped is the tiny policy of the default run.
const shipped = "../../../pipelines/train/policy"

func engine(t *testing.T, weights func([]kernels.Tensor)) (kernels.MeteredGenerator, kernels.Config, []kernels.Tensor) {
	t.Helper()
	model, tensors, err := checkpoint.Load(shipped)
	if err != nil {
		t.Fatal(err)
	}
	weights(tensors)
	g, err := cpu.NewGenerator(model, tensors, 0, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, model, tensors
}

// engineServer puts an engine behind vLLM's dialect.
type engineServer struct {
	t      *testing.T
	engine kernels.Generator
	limit  int
	loads  int64
}

func (s *engineServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health", "/pause", "/resume", "/reset_prefix_cache":
	case "/v1/models":
		reply(w, map[string]any{"data": []any{map[string]any{"id": "policy", "max_model_len": s.limit}}})
	case "/collective_rpc":
		var in struct {
			Method string            `json:"method"`
			Kwargs map[string]string `json:"kwargs"`
		}
		if !decode(w, r, &in) {
			return
		}
		_, tensors, err := checkpoint.Load(in.Kwargs["weights_path"])
		if err == nil {
			s.loads++
			err = s.engine.Publish(s.loads, kernels.Tensors(tensors))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	case "/v1/completions":
		s.complete(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *engineServer) complete(w http.ResponseWriter, r *http.Request) {
	var in completionRequest
	if !decode(w, r, &in) {
		return
	}
	session, err := s.engine.Open()
	if err != nil {
		s.t.Error(err)
		return
	}
	defer session.Close()
	c, err := session.Generate(r.Context(), in.Prompt, kernels.Sampling{
		Temperature: in.Temperature, TopK: max(0, in.TopK), TopP: in.TopP, MaxTokens: in.MaxTokens, Stop: in.StopTokenIDs,
		// The engine's random numbers are by seed and position: it takes the session's
		// own seed.
		Seed: uint64(in.Seed) ^ scatter(uint64(len(in.Prompt))),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	finish := "length"
	if c.Stopped {
		finish = "stop"
	}
	reply(w, map[string]any{
		"choices": []any{map[string]any{
			"index": 0, "text": "", "finish_reason": finish, "token_ids": c.Tokens, "prompt_token_ids": in.Prompt,
			"logprobs": map[string]any{"tokens": nil, "token_logprobs": c.LogProbs},
		}},
		"usage": map[string]any{"prompt_tokens": len(in.Prompt), "completion_tokens": len(c.Tokens)},
	})
}

// TestAgentSamplesTheSame: rollouts of the shipped policy by the agent are the same
// to the bit whether the engine is in the process or behind a server, before and
// after the weights change.
func TestAgentSamplesTheSame(t *testing.T) {
	tok, err := tokenizer.Load(shipped)
	if err != nil {
		t.Fatal(err)
	}
	embedded, model, tensors := engine(t, func([]kernels.Tensor) {})
	behind, _, _ := engine(t, func(tensors []kernels.Tensor) { // until the first hand-over
		for _, x := range tensors {
			clear(x.Data)
		}
	})
	server := httptest.NewServer(&engineServer{t: t, engine: behind, limit: model.MaxPositionEmbeddings})
	t.Cleanup(server.Close)
	cfg := config()
	cfg.Endpoints, cfg.Vocabulary = []string{server.URL}, model.VocabSize
	start, err := filepath.Abs(shipped)
	if err != nil {
		t.Fatal(err)
	}
	remote := open(t, cfg, start)
	seen := map[string]bool{}
	for version := range int64(2) {
		if version > 0 {
			for _, x := range tensors {
				for i := range x.Data {
					x.Data[i] *= 1.05
				}
			}
			dir := t.TempDir()
			if _, err := checkpoint.Save(dir, model, tensors, checkpoint.Options{DType: checkpoint.F32}); err != nil {
				t.Fatal(err)
			}
			if err := embedded.Publish(version, kernels.Tensors(tensors)); err != nil {
				t.Fatal(err)
			}
			if err := remote.Publish(t.Context(), version, dir); err != nil {
				t.Fatal(err)
			}
		}
		want := trajectories(t, rollout.Engine(embedded), tok, version)
		got := trajectories(t, remote, tok, version)
		for i := range want {
			if diff := cmp.Diff(tokensOf(want[i]), tokensOf(got[i])); diff != "" {
				t.Errorf("version %d rollout %d: embedded and remote differ: %s", version, i, diff)
			}
			if err := got[i].Validate(); err != nil {
				t.Error(err)
			}
			seen[fmt.Sprint(got[i].Tokens)] = true
		}
		if turns := len(want[0].Steps); turns < 2 {
			t.Errorf("%d turns: the prefix of a later one is not tested", turns)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d different rollouts of 6", len(seen))
	}
}

type columns struct {
	Tokens   []int32
	Mask     []bool
	LogProbs []float32
	Versions []int32
}

func tokensOf(t schemas.Trajectory) columns {
	return columns{t.Tokens, t.LossMask, t.LogProbs, t.Versions}
}

// trajectories runs a group of three.
func trajectories(t *testing.T, p rollout.Policy, tok *tokenizer.Tokenizer, version int64) []schemas.Trajectory {
	t.Helper()
	agent, err := rollout.NewAgent(p, tok, still{}, rollout.Config{
		Limits: rollout.Limits{Context: 900, Turn: 60, Steps: 4, Malformed: 4, Action: time.Minute, Time: 10 * time.Minute},
		Prompt: rollout.BriefPrompt, Tools: tools.Limits{Style: tools.Brief, Lines: 40, Characters: 1600, Action: time.Second},
		Sampling: kernels.Sampling{Temperature: 1}, Seed: 3, Attempts: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	worker, err := rollout.NewWorker(agent, "run", 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	order := schemas.Task{
		ID: "clamp/flip/1", Repo: "clamp", Statement: "Clamp is broken.", Iteration: version, Rollouts: 3,
		Files: []schemas.File{{Path: "clamp.go", Content: "package clamp\n\nvar low = 1\n"}},
	}
	var out []schemas.Trajectory
	var mu sync.Mutex // guards out
	err = worker.Do(t.Context(), order, schemas.Position{}, rollout.Emit{
		Trajectory: func(x schemas.Trajectory) {
			mu.Lock()
			defer mu.Unlock()
			out = append(out, x)
		},
		DeadLetter: func(d schemas.DeadLetter) { t.Errorf("dead letter: %s", d.Message) },
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(out, func(a, b schemas.Trajectory) int { return int(a.Rollout - b.Rollout) })
	return out
}

// still makes workspaces in which nothing ever changes, so that observations are the
// same in every run.
type still struct{ sandbox.Provider }

func (still) Open(context.Context, string, sandbox.Spec) (sandbox.Sandbox, error) {
	return stillBox{}, nil
}

type stillBox struct{ sandbox.Sandbox }

func (stillBox) Exec(context.Context, string, time.Duration) (sandbox.Result, error) {
	return sandbox.Result{Output: "ok\n"}, nil
}
func (stillBox) ReadFile(path string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}
func (stillBox) ReadDir(path string) ([]fs.DirEntry, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}
func (stillBox) WriteFile(string, []byte) error        { return nil }
func (stillBox) Remove(string) error                   { return nil }
func (stillBox) Patch(context.Context) (string, error) { return "", nil }
func (stillBox) ImageDigest() string                   { return "" }
func (stillBox) Close() error                          { return nil }
