package local

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"millrace/pipelines/faults"
	"millrace/pipelines/gomodule"
	"millrace/transforms/inject"
)

// InjectOptions are the flags of "millrace tasks inject".
type InjectOptions struct {
	ProveOptions
	// Module is the directory of a Go module.
	Module string
	faults.Config
}

// InjectTasks runs "millrace tasks inject": it breaks functions of a module, and makes
// a task of each fault that its tests notice. An interrupt ends it; the next start
// goes on.
func InjectTasks(ctx context.Context, o InjectOptions) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := o.Config.Validate(); err != nil {
		return err
	}
	m, err := gomodule.Read(ctx, o.Module)
	if err != nil {
		return err
	}
	p, err := openProving(ctx, o.ProveOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, path := range m.LeftOut {
		p.screen.Note(path + " is no text and is left out")
	}
	input, err := faults.Input(o.Config, m, p.suite)
	if err != nil {
		return err
	}
	p.screen.Phase("building what the module needs", 0)
	if err := p.warm(ctx, m); err != nil {
		return err
	}
	p.screen.Phase(fmt.Sprintf("running the tests %d times without a fault", o.ReferenceRuns), 0)
	work, err := faults.New(ctx, o.Config, m, p.suite)
	if err != nil {
		return err
	}
	p.screen.Note(fmt.Sprintf("module %s: %d tests pass every time", m.Path, work.StableTests()))
	return p.run(ctx, "inject", input, work)
}

// Modifiers turns names of flags into modifiers; which there are is checked with the
// other settings.
func Modifiers(names []string) []inject.Kind {
	var out []inject.Kind
	for _, n := range names {
		out = append(out, inject.Kind(n))
	}
	return out
}
