package local

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/pipelines/ablate"
)

// ablateMatrix are two arms on small frozen lakes, three steps each.
const ablateMatrix = `
title: Two recipes on the ice
seeds: [1]
split: test
targets: [0.5]
arms:
  - {name: grpo++, means: all parts}
  - {name: grpo, set: [recipe=grpo]}
set:
  - steps=3
  - groups_per_step=4
  - group_size=4
  - policy.random.layers=1
  - tasks.environment.name=frozenlake
  - "tasks.environment.frozenlake={train: 40, test: 8, sizes: [2, 3], protocol: compact, steps: 0}"
  - rollout.limits.context=256
  - rollout.limits.turn_tokens=1
  - rollout.limits.steps=5
  - evaluate.every=1
  - "evaluate.sets=[{split: test, samples: 1}]"
`

// TestKilledAblationGoesOn kills a matrix half way by SIGKILL, and with it its run, and
// starts it again: the runs that were begun are gone on with, and the report has every
// step of every run once.
func TestKilledAblationGoesOn(t *testing.T) {
	base := t.TempDir()
	matrix, dir := filepath.Join(base, "matrix.yaml"), filepath.Join(base, "runs")
	if err := os.WriteFile(matrix, []byte(ablateMatrix), 0o644); err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(dir, "grpo++", "seed-1")
	half := exec.Command(os.Args[0], "ablate", matrix, dir)
	var said bytes.Buffer
	half.Stdout, half.Stderr = &said, &said
	if err := half.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- half.Wait() }()
	for taken := 0; taken == 0; {
		select {
		case err := <-ended:
			t.Fatalf("the matrix ended before its first step: %v\n%s", err, &said)
		case <-time.After(20 * time.Millisecond):
		}
		record, err := ablate.Record(first)
		if err != nil {
			t.Fatal(err)
		}
		taken = len(record.Steps)
	}
	if err := half.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended

	whole := exec.CommandContext(t.Context(), os.Args[0], "ablate", matrix, dir)
	out, err := whole.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(first, runLog))
		t.Fatalf("%v\n%s\n%s", err, out, log)
	}
	if !strings.Contains(string(out), "grpo++") || !strings.Contains(string(out), "report.html") {
		t.Errorf("it told:\n%s", out)
	}
	f, err := os.Open(filepath.Join(dir, "curves.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, row := range rows[1:] {
		if metric := row[3]; metric == "critic/rewards/mean" || metric == "pass@1/test" {
			times[strings.Join(row[:4], " ")]++
		}
	}
	for _, arm := range []string{"grpo++", "grpo"} {
		for _, want := range []string{" 1 0 pass@1/test", " 1 1 pass@1/test", " 1 2 pass@1/test", " 1 3 pass@1/test",
			" 1 1 critic/rewards/mean", " 1 2 critic/rewards/mean", " 1 3 critic/rewards/mean"} {
			if times[arm+want] != 1 {
				t.Errorf("%s%s: %d times in the table", arm, want, times[arm+want])
			}
		}
	}
	for _, file := range []string{"report.html", "curves.parquet", "figures/success.svg"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}

	changed := strings.Replace(ablateMatrix, "steps=3", "steps=4", 1)
	if err := os.WriteFile(matrix, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	err = Ablate(context.Background(), AblateOptions{Matrix: matrix, Dir: dir, Out: os.Stdout})
	if err == nil || !strings.Contains(err.Error(), "holds another matrix") {
		t.Errorf("another matrix in the same directory: %v", err)
	}
}

// TestShippedMatrices resolves the settings of every run of the matrices in the docs.
func TestShippedMatrices(t *testing.T) {
	for name, want := range map[string]int{"ablate-recipes.yaml": 7 * 5, "ablate-parts.yaml": 8 * 5} {
		m, err := ablate.Load(filepath.Join("..", "..", "docs", "configs", name))
		if err != nil {
			t.Fatal(err)
		}
		if cells, err := cellsOf(t.TempDir(), m); err != nil || len(cells) != want {
			t.Errorf("%s: %d runs, %v", name, len(cells), err)
		}
	}
}

// TestAblationRefuses: what is wrong with an arm is told before any run begins.
func TestAblationRefuses(t *testing.T) {
	for name, c := range map[string]struct{ old, by, want string }{
		"recipe": {"recipe=grpo", "recipe=gspoo", "arm grpo: "},
		"key":    {"recipe=grpo", "learn.rate=1", "arm grpo: --set learn.rate: unknown key"},
		"split":  {"split: test\n", "split: held\n", `evaluate.sets has no split "held"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			matrix := filepath.Join(dir, "matrix.yaml")
			if err := os.WriteFile(matrix, []byte(strings.Replace(ablateMatrix, c.old, c.by, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			err := Ablate(t.Context(), AblateOptions{Matrix: matrix, Dir: filepath.Join(dir, "runs"), Out: os.Stdout})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "*")); len(runs) > 0 {
				t.Errorf("began %v", runs)
			}
		})
	}
}
