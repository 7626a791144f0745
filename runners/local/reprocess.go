package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"millrace/pipelines/reprocess"
	"millrace/pipelines/settings"
	"millrace/pipelines/stage"
	"millrace/pipelines/train"
	"millrace/runners/display"
	"millrace/runners/embedded"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
)

// ReprocessOptions are what the command line of "millrace reprocess" says.
type ReprocessOptions struct {
	// From is a run directory or a directory of data sets; empty is a Kafka that the
	// configuration names.
	From string
	// Parquet reads the data sets of a run directory, not its topics.
	Parquet bool
	// Run names the run that is read; empty is the one of the run directory.
	Run string
	// Out is the directory of the new run, Name its name; empty is the directory's.
	Out, Name string

	// ConfigFile, Set and Recipe are the layers over the run's own configuration.
	ConfigFile string
	Set        []string
	Recipe     string
	// Filter and Advantage are stronger than the recipe's.
	Filter, Advantage string
	Reward            RewardOptions

	Offsets      []string
	Since, Until time.Time

	// Topics writes topics, not Parquet files.
	Topics bool
	// Train takes the samples through the learner, from Checkpoint or, with FromStep,
	// from the state after a step of the run.
	Train      bool
	Checkpoint string
	FromStep   *int64

	// Output is the form of the report on Answer; Screen shows how it goes on.
	Output string
	Answer io.Writer
	Screen *os.File
}

// reportFile is the report in a new run's directory.
const reportFile = "reprocess.json"

// Reprocess runs "millrace reprocess".
func Reprocess(ctx context.Context, o ReprocessOptions) (err error) {
	if o.FromStep != nil {
		o.Train = true
	}
	if err := o.validate(); err != nil {
		return err
	}
	if o.Name == "" {
		o.Name = filepath.Base(o.Out)
	}
	original, config, err := o.configs()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.Out, configFile)); err == nil {
		return fmt.Errorf("%s holds a run: choose another --out", o.Out)
	}
	lock, err := embedded.LockDir(o.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	ctx, drained, stop := signals(ctx)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		select {
		case <-drained: // there is nothing worth draining: the input stays
			end(errors.New("stopped; the input is as it was, start again into another directory"))
		case <-ctx.Done():
		}
	}()
	p := &reprocessing{ReprocessOptions: o, original: original, config: config, screen: display.Open(o.Screen)}
	report, err := p.run(ctx)
	p.screen.Close()
	if err != nil {
		return err
	}
	return o.print(report)
}

// reprocessing is a reprocessing under way.
type reprocessing struct {
	ReprocessOptions
	original, config train.Config
	screen           *display.Display
}

func (o ReprocessOptions) validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Out == "" {
		refuse("--out: name a directory for the new run")
	}
	if o.Checkpoint != "" && (!o.Train || o.FromStep != nil) {
		refuse("--checkpoint is where --train begins; --from-step begins at a step of the run")
	}
	if o.FromStep != nil && *o.FromStep < 0 {
		refuse("--from-step %d: steps count from 1, and 0 is the beginning", *o.FromStep)
	}
	if o.Parquet && o.From == "" {
		refuse("--parquet: name the run directory, or a directory of data sets")
	}
	if len(o.Offsets) > 0 && o.Parquet {
		refuse("--offsets are of a topic: files are cut by --since and --until")
	}
	if !o.Since.IsZero() && !o.Until.IsZero() && !o.Since.Before(o.Until) {
		refuse("--since %s is not before --until %s", o.Since.Format(time.RFC3339), o.Until.Format(time.RFC3339))
	}
	return errors.Join(append(errs, o.Reward.validate())...)
}

// configs are the configuration of the run that is read, or the defaults where none is
// known, and the one of the new run over it.
func (o ReprocessOptions) configs() (original, config train.Config, err error) {
	original = train.Default()
	if saved := filepath.Join(o.From, configFile); o.From != "" {
		if _, err := os.Stat(saved); err == nil {
			if err := settings.Load(saved, nil, &original); err != nil {
				return original, config, err
			}
		}
	}
	config = original
	set := o.Set
	if o.Recipe != "" {
		set = append(set, fmt.Sprintf("recipe=%q", o.Recipe))
	}
	if o.Checkpoint != "" {
		set = append(set, fmt.Sprintf("policy.checkpoint=%q", o.Checkpoint))
	}
	if err := settings.Load(o.ConfigFile, append(set, fmt.Sprintf("name=%q", o.Name)), &config); err != nil {
		return original, config, err
	}
	if o.From == "" {
		original.Kafka = config.Kafka
	}
	return original, config, config.Validate()
}

// decisions are the settings of filter and advantage.
func (o ReprocessOptions) decisions(c train.Config) (filter.Config, advantage.Config) {
	filtering, grouping := c.Selection()
	if o.Filter != "" {
		filtering.Mode = o.Filter
	}
	if o.Advantage != "" {
		grouping.Estimator = o.Advantage
	}
	return filtering, grouping
}

func (p *reprocessing) run(ctx context.Context) (_ *reprocess.Report, err error) {
	filtering, grouping := p.decisions(p.config)
	if err := errors.Join(filtering.Validate(), grouping.Validate()); err != nil {
		return nil, err
	}
	in, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	grader, closeGrader, err := p.grader(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeGrader()) }()
	job := reprocess.Config{
		Name: p.config.RunName() + ".reprocess", Source: in.source, Selection: reprocess.Selection{Since: p.Since, Until: p.Until},
		Grader: grader, InFlight: p.Reward.InFlight, Filter: filtering, Advantage: grouping, Originals: in.originals,
	}
	var report *reprocess.Report
	switch {
	case p.Train:
		report, err = p.train(ctx, in, job)
	case p.Topics:
		report, err = p.toTopics(ctx, job)
	default:
		report, err = p.toParquet(ctx, job)
	}
	if err != nil {
		return nil, err
	}
	report.Input = in.name
	report.Settings = map[string]string{
		"recipe": p.config.Recipe, "filter": filtering.Mode, "advantage": grouping.Estimator, "reward": p.Reward.String(),
	}
	if err := save(p.Out, p.config); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	return report, renameio.WriteFile(filepath.Join(p.Out, reportFile), append(text, '\n'), 0o644)
}

func (p *reprocessing) toParquet(ctx context.Context, job reprocess.Config) (*reprocess.Report, error) {
	dir := filepath.Join(p.Out, "data")
	sink, err := reprocess.NewParquetSink(dir, p.config.RunName(), job.Source.Lanes(), job.Grader != nil)
	if err != nil {
		return nil, err
	}
	job.Sink = sink
	report, err := p.reprocess(ctx, job, "reprocessing")
	if err == nil {
		report.Output = dir
	}
	return report, err
}

func (p *reprocessing) toTopics(ctx context.Context, job reprocess.Config) (_ *reprocess.Report, err error) {
	brokers, closeBroker, err := openBrokers(p.Out, p.config.Kafka)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBroker()) }()
	topics := stage.TopicsOf(p.config.RunName())
	sink, err := reprocess.NewTopicSink(ctx, brokers, topics, p.config.Kafka.Topics(), job.Source.Lanes(), job.Grader != nil)
	if err != nil {
		return nil, err
	}
	job.Sink = sink
	report, err := p.reprocess(ctx, job, "reprocessing")
	if err == nil {
		report.Output = "topic " + topics.Samples
	}
	return report, err
}

// reprocess runs the job and shows how it goes on.
func (p *reprocessing) reprocess(ctx context.Context, job reprocess.Config, phase string) (*reprocess.Report, error) {
	p.screen.Phase(phase, 0)
	return reprocess.Run(ctx, start, job)
}

// lanes is the number of parts of the input that are worked on at once.
func lanes() int { return min(8, runtime.GOMAXPROCS(0)) } // Prism runs eight bundles of a job

// print writes the report for a person or a machine.
func (o ReprocessOptions) print(report *reprocess.Report) error {
	if o.Output == jsonOutput {
		encoder := json.NewEncoder(o.Answer)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	err := table(o.Output, o.Answer, []string{"what", "before", "after", "note"}, report.Rows(), func(r reprocess.Row) []any {
		return []any{r.What, r.Before, r.After, r.Note}
	})
	if o.Output != tableOutput {
		return err
	}
	return errors.Join(err, summarise(o.Answer, report, o.Out))
}

func summarise(out io.Writer, report *reprocess.Report, dir string) error {
	var chosen []string
	for _, name := range []string{"recipe", "filter", "advantage", "reward"} {
		chosen = append(chosen, name+" "+report.Settings[name])
	}
	_, err := fmt.Fprintf(out, "%s -> %s (%s): %.1f s, %.1f million tokens/s; report: %s\n", report.Input, report.Output,
		strings.Join(chosen, ", "), report.Seconds, float64(report.Tokens)/report.Seconds/1e6, filepath.Join(dir, reportFile))
	return err
}
