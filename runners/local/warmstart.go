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

// demonstrationsFile keeps what the expert did: a warm start with other settings
// of tokenizer, model or schedule need not run it again.
const demonstrationsFile = "demonstrations.json"

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
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the policy's directory: %w", err)
	}
	screen := display.Open(out)
	defer screen.Close()
	demonstrations, err := demonstrate(ctx, config, screen)
	if err != nil {
		return err
	}
	steps := int(config.Schedule.Tokens / int64(config.Schedule.BatchTokens))
	screen.Phase("supervised steps", steps)
	return warmstart.Teach(ctx, config, demonstrations, dir, func(p warmstart.Progress) {
		screen.Progress(int(p.Step))
		if p.Step%25 == 0 {
			screen.Note(fmt.Sprintf("step %d of about %d  tokens %d  loss %.4f  gradient norm %.3f  rate %.2g", p.Step, steps, p.Tokens, p.Loss, p.GradNorm, p.LearningRate))
		}
	})
}

func demonstrate(ctx context.Context, c warmstart.Config, screen *display.Display) ([]warmstart.Demonstration, error) {
	cache, err := warmCache(ctx, screen)
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(filepath.Dir(cache), demonstrationsFile)
	if data, err := os.ReadFile(kept); err == nil {
		var d []warmstart.Demonstration
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("reading %s: %w", kept, err)
		}
		screen.Note(fmt.Sprintf("%d demonstrations from %s; remove it to record them again", len(d), kept))
		return d, nil
	}
	process, err := sandbox.NewProcess(train.Default().Sandbox.Process(cache))
	if err != nil {
		return nil, err
	}
	store, err := sandbox.NewStore(filepath.Join(filepath.Dir(cache), "demonstrations.cache"), 1<<16)
	if err != nil {
		return nil, errors.Join(err, process.Close())
	}
	defer store.Close()
	boxes := sandbox.NewMemo(process, store, train.GoTest.MatchString)
	defer boxes.Close()
	tasks, err := mine.Default()
	if err != nil {
		return nil, err
	}
	tasks = mine.OfKinds(mine.Select(tasks, mine.Train), c.Collection.Kinds)
	screen.Phase("demonstrations", len(tasks))
	d, err := warmstart.Demonstrate(ctx, c, tasks, boxes, func(done, _ int) { screen.Progress(done) })
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("keeping the demonstrations: %w", err)
	}
	if err := os.WriteFile(kept, data, 0o644); err != nil {
		return nil, fmt.Errorf("keeping the demonstrations: %w", err)
	}
	return d, nil
}
