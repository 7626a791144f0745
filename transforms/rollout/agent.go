package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"millrace/kernels"
	"millrace/kernels/tokenizer"
	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox"
)

// Agent runs single rollouts. It is safe for concurrent use.
type Agent struct {
	policy    Policy
	tokenizer *tokenizer.Tokenizer
	chat      *tokenizer.Chat
	sandboxes sandbox.Provider
	cfg       Config
	prompts   templates
	now       func() time.Time
}

// Config are the settings of the agent.
type Config struct {
	Limits   Limits           `yaml:"limits"`
	Prompt   Prompt           `yaml:"prompt"`
	Notices  Notices          `yaml:"notices"`
	Tools    tools.Limits     `yaml:"tools"`
	Sampling kernels.Sampling `yaml:"-"`
	// Environments are the text environments, by the name that tasks give them.
	Environments map[string]environment.Environment `yaml:"-"`
	// Seed and the order decide the random numbers of a rollout.
	Seed uint64 `yaml:"-"`
	// SingleTurn is SWE-RL's rollout in place of the agent's loop; see single_turn.go.
	SingleTurn bool `yaml:"single_turn"`
	// Attempts is how often a rollout is tried when the infrastructure fails.
	Attempts int `yaml:"attempts"`
}

// NewAgent checks the settings and parses the prompt. The tokenizer must be the
// policy's own.
func NewAgent(p Policy, t *tokenizer.Tokenizer, sandboxes sandbox.Provider, cfg Config) (*Agent, error) {
	chat, err := tokenizer.NewChat(t)
	if err != nil {
		return nil, err
	}
	if err := cfg.Limits.Validate(); err != nil {
		return nil, err
	}
	if cfg.Attempts < 1 {
		return nil, fmt.Errorf("attempts is %d: must be at least 1", cfg.Attempts)
	}
	if cfg.Tools.Action <= 0 || cfg.Tools.Action >= cfg.Limits.Action {
		return nil, fmt.Errorf("tools.action_time is %v: must be positive and less than limits.action_time %v, or a slow command would count as a failure", cfg.Tools.Action, cfg.Limits.Action)
	}
	prompts, err := cfg.Prompt.orOf(cfg.Tools.Style).parse()
	if err != nil {
		return nil, err
	}
	return &Agent{policy: p, tokenizer: t, chat: chat, sandboxes: sandboxes, cfg: cfg, prompts: prompts, now: time.Now}, nil
}

// ErrPromptTooLong is returned for a task whose first prompt leaves no room to
// answer; trying again cannot help.
var ErrPromptTooLong = errors.New("the first prompt is too long")

// Prompt returns the messages that begin a rollout of the task.
func (a *Agent) Prompt(task schemas.Task) (system, user string, err error) {
	w, err := a.worldOf(task)
	if err != nil {
		return "", "", err
	}
	return w.prompt(task)
}

// attempt is the state of one rollout.
type attempt struct {
	*Agent
	trajectory schemas.Trajectory
	session    kernels.Session
	episode    episode
	transcript transcript
	malformed  int // turns in a row that did nothing
	deadline   time.Time
}

// Run is one attempt of one rollout. An error is an infrastructure failure: a
// failure of the sandbox, a failure of the policy, or the end of ctx.
func (a *Agent) Run(ctx context.Context, order schemas.Task, run string, rollout, number int32) (schemas.Trajectory, error) {
	e := &attempt{Agent: a, trajectory: schemas.Trajectory{
		ID:        schemas.TrajectoryID(run, order.ID, order.Iteration, rollout, number),
		GroupID:   schemas.GroupID(run, order.ID, order.Iteration),
		Run:       run,
		Iteration: order.Iteration,
		Rollout:   rollout,
		Attempt:   number,
		Task:      order,
		Started:   a.now().UnixMicro(),
	}}
	if err := e.run(ctx, order); err != nil {
		return schemas.Trajectory{}, fmt.Errorf("rollout %s: %w", e.trajectory.ID, err)
	}
	return e.trajectory, nil
}

func (e *attempt) run(ctx context.Context, order schemas.Task) error {
	if e.cfg.SingleTurn {
		return e.singleTurn(ctx, order)
	}
	if err := e.open(ctx, order); err != nil {
		return err
	}
	defer e.close()
	reason, err := e.play(ctx)
	if err != nil {
		return err
	}
	return e.finish(ctx, reason)
}

// open makes the episode and the policy session and writes the first prompt.
func (e *attempt) open(ctx context.Context, order schemas.Task) error {
	world, err := e.worldOf(order)
	if err != nil {
		return err
	}
	system, user, err := world.prompt(order)
	if err != nil {
		return err
	}
	if err := e.begin(system, user); err != nil {
		return err
	}
	if e.episode, err = world.open(ctx, e.trajectory.ID, order); err != nil {
		return err
	}
	if e.session, err = e.policy.Open(ctx); err != nil {
		e.episode.close()
		return &policyFailure{"opening a policy session", err}
	}
	e.deadline = e.now().Add(e.cfg.Limits.Time)
	return nil
}

// begin writes the first prompt.
func (e *attempt) begin(system, user string) error {
	e.transcript.give(e.chat.Render(
		tokenizer.Message{Role: "system", Content: system},
		tokenizer.Message{Role: "user", Content: user}))
	e.transcript.give(e.chat.Open("assistant"))
	most := e.cfg.Limits.Context - 1
	if limit := e.cfg.Limits.Prompt; limit > 0 {
		most = min(most, limit)
	}
	if n := len(e.transcript.tokens); n > most {
		return fmt.Errorf("%w: %d tokens, and %d are allowed", ErrPromptTooLong, n, most)
	}
	return nil
}

func (e *attempt) close() {
	e.session.Close()
	e.episode.close()
}

// play takes turns until a limit or the agent ends the rollout.
func (e *attempt) play(ctx context.Context) (schemas.Termination, error) {
	for {
		room := e.cfg.Limits.Context - len(e.transcript.tokens)
		if room <= 0 {
			return schemas.ContextFull, nil
		}
		started := e.now()
		if !started.Before(e.deadline) {
			return schemas.TimeLimit, nil
		}
		step, stopped, err := e.sample(ctx, min(room, e.cfg.Limits.Turn))
		if err != nil {
			return "", err
		}
		sampled := e.now()
		step.Sampling = sampled.Sub(started).Microseconds()
		if !stopped && len(e.transcript.tokens) >= e.cfg.Limits.Context {
			e.trajectory.Steps = append(e.trajectory.Steps, step)
			return schemas.ContextFull, nil // a turn cut short is not acted on
		}
		observation, ended, err := e.act(ctx, &step)
		if err != nil {
			return "", err
		}
		step.Acting = e.now().Sub(sampled).Microseconds()
		e.trajectory.Steps = append(e.trajectory.Steps, step)
		if ended != "" {
			return ended, nil
		}
		if len(e.trajectory.Steps) >= e.cfg.Limits.Steps {
			return schemas.StepLimit, nil
		}
		observation += e.cfg.Notices.lines(len(e.trajectory.Steps), e.cfg.Limits.Steps, len(e.transcript.tokens))
		e.transcript.give(e.chat.Close(stopped))
		e.transcript.give(e.chat.Render(tokenizer.Message{Role: "user", Content: observation}))
		e.transcript.give(e.chat.Open("assistant"))
	}
}

// sample lets the policy write one turn of at most limit tokens.
func (e *attempt) sample(ctx context.Context, limit int) (schemas.Step, bool, error) {
	sampling := e.cfg.Sampling
	sampling.MaxTokens = limit
	sampling.Stop = e.chat.Stop()
	sampling.Seed = seed(e.cfg.Seed, e.trajectory.GroupID, e.trajectory.Rollout)
	ctx, cancel := context.WithDeadline(ctx, e.deadline.Add(e.cfg.Limits.Action))
	defer cancel()
	completion, err := e.session.Generate(ctx, e.transcript.prompt(), sampling)
	if err != nil {
		return schemas.Step{}, false, &policyFailure{e.turn("sampling"), err}
	}
	start := len(e.transcript.tokens)
	if err := e.transcript.take(completion, limit, e.session.Len()); err != nil {
		return schemas.Step{}, false, &policyFailure{e.turn("sampling"), err}
	}
	written := completion.Tokens
	if completion.Stopped {
		written = written[:len(written)-1]
	}
	return schemas.Step{
		TokenStart: int32(start),
		TokenEnd:   int32(len(e.transcript.tokens)),
		Action:     e.tokenizer.Decode(written),
	}, completion.Stopped, nil
}

// turn names the turn under way in an error.
func (e *attempt) turn(doing string) string {
	return fmt.Sprintf("%s turn %d", doing, len(e.trajectory.Steps)+1)
}

// act has the world answer the turn. It returns the observation, and a
// termination reason if the turn ends the rollout.
func (e *attempt) act(ctx context.Context, step *schemas.Step) (string, schemas.Termination, error) {
	left := e.deadline.Sub(e.now())
	ctx, cancel := context.WithTimeout(ctx, min(left, e.cfg.Limits.Action))
	defer cancel()
	a, err := e.episode.act(ctx, step.Action)
	step.Tool = a.tool
	switch {
	case err != nil && left <= e.cfg.Limits.Action && errors.Is(err, context.DeadlineExceeded):
		step.ExitCode = -1
		return "", schemas.ActionLimit, nil
	case err != nil:
		return "", "", fmt.Errorf("%s: %w", e.turn("calling "+a.tool+" in"), err)
	}
	step.Observation, step.ExitCode = a.observation, a.exitCode
	switch {
	case a.done:
		return "", schemas.Finished, nil
	case a.wasted:
		return a.observation, e.wasted(), nil
	}
	e.malformed = 0
	return a.observation, "", nil
}

// wasted counts a turn that did nothing, and ends the rollout at the limit.
func (e *attempt) wasted() schemas.Termination {
	e.malformed++
	if e.malformed >= e.cfg.Limits.Malformed {
		return schemas.Malformed
	}
	return ""
}

// finish completes the trajectory.
func (e *attempt) finish(ctx context.Context, reason schemas.Termination) error {
	if err := e.episode.finish(ctx, &e.trajectory); err != nil {
		return err
	}
	e.trajectory.Termination = reason
	e.trajectory.Finished = e.now().UnixMicro()
	e.transcript.store(&e.trajectory)
	return nil
}

// tombstone is the record of a rollout that failed for good.
func tombstone(order schemas.Task, run string, rollout, attempt int32, cause error, now time.Time) schemas.Trajectory {
	return schemas.Trajectory{
		ID:          schemas.TrajectoryID(run, order.ID, order.Iteration, rollout, attempt),
		GroupID:     schemas.GroupID(run, order.ID, order.Iteration),
		Run:         run,
		Iteration:   order.Iteration,
		Rollout:     rollout,
		Attempt:     attempt,
		Task:        order,
		Termination: schemas.Failed,
		Failure:     strings.ToValidUTF8(cause.Error(), "?"),
		Started:     now.UnixMicro(),
		Finished:    now.UnixMicro(),
	}
}
