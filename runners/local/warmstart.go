package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"millrace/pipelines/mine"
	"millrace/pipelines/settings"
	"millrace/pipelines/train"
	"millrace/pipelines/warmstart"
	"millrace/runners/display"
	"millrace/transforms/rollout"
	"millrace/transforms/sandbox"
)

// recordingFile keeps what the expert did: a warm start with other settings of
// tokenizer, model or schedule need not run it again.
const recordingFile = "demonstrations.json"

// Warmstart runs "millrace warmstart".
func Warmstart(ctx context.Context, dir, configFile string, set []string, out *os.File) error {
	config := warmstart.Default()
	if err := settings.Load(configFile, set, &config); err != nil {
		return err
	}
	defaults := train.Default()
	config.Agent = rollout.Config{
		Limits: defaults.Rollout.Limits, Prompt: defaults.Rollout.Prompt, Tools: defaults.Rollout.Tools,
		Attempts: defaults.Rollout.Attempts,
	}
	if err := config.Validate(); err != nil {
		return fmt.Errorf("settings of the warm start: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the policy's directory: %w", err)
	}
	screen := display.Open(out)
	defer screen.Close()
	recording, err := record(ctx, config, screen)
	if err != nil {
		return err
	}
	steps := int(config.Schedule.Tokens / int64(config.Schedule.BatchTokens))
	screen.Phase("supervised steps", steps)
	return warmstart.Teach(ctx, config, recording, dir, func(p warmstart.Progress) {
		screen.Progress(int(p.Step))
		if p.Step%25 == 0 {
			screen.Note(fmt.Sprintf("step %d of about %d  tokens %d  loss %.4f  gradient norm %.3f  rate %.2g", p.Step, steps, p.Tokens, p.Loss, p.GradNorm, p.LearningRate))
		}
	})
}

func record(ctx context.Context, c warmstart.Config, screen *display.Display) (r warmstart.Recording, err error) {
	cache, err := warmCache(ctx, screen)
	if err != nil {
		return r, err
	}
	kept := filepath.Join(filepath.Dir(cache), recordingFile)
	if data, err := os.ReadFile(kept); err == nil {
		if err := json.Unmarshal(data, &r); err != nil {
			return r, fmt.Errorf("reading %s: %w; remove it to record anew", kept, err)
		}
		screen.Note(fmt.Sprintf("%d demonstrations and %d drills from %s; remove it to record anew", len(r.Demonstrations), len(r.Drills), kept))
		return r, nil
	}
	process, err := sandbox.NewProcess(train.Default().Sandbox.Process(cache))
	if err != nil {
		return r, err
	}
	store, err := sandbox.NewStore(filepath.Join(filepath.Dir(cache), "demonstrations.cache"), 1<<16)
	if err != nil {
		return r, errors.Join(err, process.Close())
	}
	defer store.Close()
	boxes := sandbox.NewMemo(process, store, train.GoTest.MatchString)
	defer boxes.Close()
	tasks, err := mine.Default()
	if err != nil {
		return r, err
	}
	tasks = mine.OfKinds(mine.Select(tasks, mine.Train), c.Collection.Kinds)
	packages := os.DirFS(filepath.Join(sandbox.GOROOT(), "src"))
	screen.Phase("demonstrations", 2*len(tasks)+c.Collection.Snippets)
	if r, err = warmstart.Record(ctx, c, tasks, packages, boxes, func(done, _ int) { screen.Progress(done) }); err != nil {
		return r, err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return r, fmt.Errorf("keeping the demonstrations: %w", err)
	}
	if err := os.WriteFile(kept, data, 0o644); err != nil {
		return r, fmt.Errorf("keeping the demonstrations: %w", err)
	}
	return r, nil
}
