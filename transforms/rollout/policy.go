package rollout

import (
	"context"

	"millrace/kernels"
)

// Policy is whatever samples the agent's turns: the embedded engine, a server
// that speaks the OpenAI API and returns token ids and log-probs, or a scripted
// expert.
//
// Open may block until a place is free, no longer than ctx lives. An error of
// Open or of the session's Generate is an infrastructure failure: the rollout
// is tried again and never rewarded.
type Policy interface {
	Open(ctx context.Context) (kernels.Session, error)
	// Version is the policy version that a token sampled now would carry.
	Version() int64
}

// Engine makes a Policy of a generator in this process.
func Engine(g kernels.Generator) Policy { return engine{g} }

type engine struct{ generator kernels.Generator }

func (e engine) Open(context.Context) (kernels.Session, error) { return e.generator.Open() }
func (e engine) Version() int64                                { return e.generator.Version() }

// policyFailure is an infrastructure failure that the policy is to blame for;
// every other failure of an attempt is the sandbox's.
type policyFailure struct {
	doing string
	err   error
}

func (f *policyFailure) Error() string { return f.doing + ": " + f.err.Error() }
func (f *policyFailure) Unwrap() error { return f.err }
