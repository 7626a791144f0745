// Command bench times updates, publishing and sampling on a GPU through package cuda, and
// prints a line of JSON for each measurement, as soon as it is made. bench.py runs it,
// on the models and batches that it also gives to PyTorch.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cuda"
)

// settings are what every step takes; bench.py writes them beside the batches.
type settings struct {
	Loss  kernels.Loss
	AdamW kernels.AdamW
	// Shapes are batches by name: micro-batches of sequences, all of whose tokens but
	// the first are trained.
	Shapes map[string][][]struct {
		Tokens    []int32
		Advantage float64
		// Behaviour is the log-probability of each token under the behaviour policy.
		Behaviour float32
	}
}

type command struct {
	Update  update  `cmd:"" help:"Time optimizer steps on batches."`
	Publish publish `cmd:"" help:"Time the hand-over of new weights to the engine."`
	Decode  decode  `cmd:"" help:"Time sampling, and compare its log-probabilities with the trainer's."`
}

// source is what both commands read.
type source struct {
	Model string `help:"Hugging Face directory." required:"" type:"existingdir"`
	Batch string `help:"File with batches and settings." required:"" type:"existingfile"`
}

type update struct {
	source
	Shape     []string `help:"Batches to take, in this order." required:""`
	Warm      int      `help:"Steps before those that count, for each batch." default:"1"`
	Steps     int      `help:"Steps that count, for each batch." default:"2"`
	Recompute string   `help:"auto, none, cheap or block." default:"auto"`
	LogProbs  string   `help:"File for the log-probabilities of the first micro-batch before any step." type:"path"`
}

type publish struct {
	source
	Shape string `help:"Batch whose first micro-batch is trained before each." required:""`
	Times int    `help:"How many." default:"20"`
}

func (c update) Run() error {
	recompute, err := cuda.ParseRecompute(c.Recompute)
	if err != nil {
		return err
	}
	return c.open(cuda.Options{Precision: cuda.BF16, Recompute: recompute}, func(_ *cuda.Device, s settings, trainer *cuda.Trainer) error {
		ctx := context.Background()
		if c.LogProbs != "" {
			if err := s.logProbs(ctx, trainer, c.Shape[0], c.LogProbs); err != nil {
				return err
			}
		}
		for _, shape := range c.Shape {
			batch, err := s.batch(shape)
			if err != nil {
				return err
			}
			for step := -c.Warm; step < c.Steps; step++ {
				start := time.Now()
				var sum kernels.Statistics
				for _, micro := range batch {
					statistics, err := trainer.Accumulate(ctx, micro, s.Loss)
					if err != nil {
						return fmt.Errorf("batch %s: %w", shape, err)
					}
					sum.Add(statistics)
				}
				result, err := trainer.Step(s.AdamW)
				if err != nil {
					return fmt.Errorf("batch %s: %w", shape, err)
				}
				if err := report(map[string]any{
					"part": "update", "name": shape, "step": step, "ms": milliseconds(time.Since(start)),
					"tokens": sum.Tokens, "loss": sum.Loss, "norm": result.GradNorm,
					"recompute": trainer.Used().Recompute.String(), "by": trainer.Attention(),
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Run counts from a finished step to the moment when the engine may read, as often as
// it is told; the first one, which allocates the second buffer, is not counted.
func (c publish) Run() error {
	return c.open(cuda.Options{Precision: cuda.BF16}, func(_ *cuda.Device, s settings, trainer *cuda.Trainer) error {
		batch, err := s.batch(c.Shape)
		if err != nil {
			return err
		}
		for version := range c.Times + 1 {
			if _, err := trainer.Accumulate(context.Background(), batch[0], s.Loss); err != nil {
				return err
			}
			if _, err := trainer.Step(s.AdamW); err != nil {
				return err
			}
			start := time.Now()
			if err := trainer.Publish(int64(version)); err != nil {
				return err
			}
			took := time.Since(start)
			if version == 0 {
				continue
			}
			if err := report(map[string]any{"part": "publish", "name": "copy-free", "ms": milliseconds(took)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// open gives run the first device, the settings and a trainer.
func (s source) open(options cuda.Options, run func(*cuda.Device, settings, *cuda.Trainer) error) (err error) {
	data, err := os.ReadFile(s.Batch)
	if err != nil {
		return err
	}
	var set settings
	if err := json.Unmarshal(data, &set); err != nil {
		return fmt.Errorf("%s: %w", s.Batch, err)
	}
	cfg, weights, err := checkpoint.Load(s.Model)
	if err != nil {
		return err
	}
	device, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	trainer, err := device.NewTrainer(cfg, weights, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trainer.Close()) }()
	return run(device, set, trainer)
}

// batch is the shape's, ready to be trained on.
func (s settings) batch(shape string) ([][]kernels.Sequence, error) {
	if len(s.Shapes[shape]) == 0 {
		return nil, fmt.Errorf("no batch %q in the file", shape)
	}
	var batch [][]kernels.Sequence
	for i, micro := range s.Shapes[shape] {
		var sequences []kernels.Sequence
		for j, q := range micro {
			sequence := kernels.Sequence{ID: fmt.Sprintf("%s %d.%d", shape, i, j), Tokens: q.Tokens, Advantage: q.Advantage}
			for t := range q.Tokens {
				sequence.Mask = append(sequence.Mask, t > 0)
				sequence.LogProbs = append(sequence.LogProbs, q.Behaviour)
			}
			sequences = append(sequences, sequence)
		}
		batch = append(batch, sequences)
	}
	return batch, nil
}

func (s settings) logProbs(ctx context.Context, trainer *cuda.Trainer, shape, path string) error {
	batch, err := s.batch(shape)
	if err != nil {
		return err
	}
	rows, err := trainer.LogProbs(ctx, batch[0], 1)
	if err != nil {
		return err
	}
	all := kernels.Tensor{Name: "log_probs"}
	for _, row := range rows {
		all.Data = append(all.Data, row[1:]...)
	}
	all.Shape = []int{len(all.Data)}
	_, err = checkpoint.WriteTensors(path, []kernels.Tensor{all}, checkpoint.F32, nil)
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func report(line map[string]any) error {
	line["side"] = "ours"
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("a measurement is not finite: %w", err)
	}
	fmt.Println(string(text))
	return nil
}

func main() {
	var c command
	k := kong.Parse(&c, kong.Description("Times updates, publishing and sampling on a GPU; bench.py runs it."))
	k.FatalIfErrorf(k.Run())
}
