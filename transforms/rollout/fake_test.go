package rollout

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"millrace/kernels"
	"millrace/kernels/tokenizer"
	"millrace/schemas"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox"
)

// byteTokenizer has one token a byte and ChatML's three control tokens.
func byteTokenizer(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	control := []string{tokenizer.EndOfText, tokenizer.MessageStart, tokenizer.MessageEnd}
	tok, err := tokenizer.Train(func(func(string) bool) {}, 256+len(control), control)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// turn is what a scripted policy does in one turn. The zero value ends the turn
// without a word.
type turn struct {
	say string
	// open leaves the turn without its stop token, as if MaxTokens cut it.
	open bool
	// before runs first; its error is the turn's.
	before func(ctx context.Context) error
	// spoil changes the completion after the session has noted it.
	spoil func(*kernels.Completion)
}

// script is a policy whose every session plays the same turns, and an empty
// turn for each one after them. Each Generate call is of a policy version one
// higher.
type script struct {
	tokenizer *tokenizer.Tokenizer
	turns     []turn
	open      func(ctx context.Context) error // nil: opens
	version   atomic.Int64

	mu       sync.Mutex // guards sessions
	sessions []*scriptSession
}

func (p *script) Version() int64 { return p.version.Load() }

func (p *script) Open(ctx context.Context) (kernels.Session, error) {
	if p.open != nil {
		if err := p.open(ctx); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &scriptSession{policy: p}
	p.sessions = append(p.sessions, s)
	return s, nil
}

// scriptSession notes what it saw and what it said, token by token, in its own
// books: they are what a trajectory is compared with.
type scriptSession struct {
	policy   *script
	tokens   []int32
	sampled  []bool
	logProbs []float32
	versions []int32
	prefixes [][]int32 // the sequence that each turn was conditioned on
	asked    []kernels.Sampling
	closed   bool
}

func (s *scriptSession) Generate(ctx context.Context, prompt []int32, sampling kernels.Sampling) (kernels.Completion, error) {
	if s.closed {
		return kernels.Completion{}, errors.New("session is closed")
	}
	var now turn
	if n := len(s.asked); n < len(s.policy.turns) {
		now = s.policy.turns[n]
	}
	s.asked = append(s.asked, sampling)
	if now.before != nil {
		if err := now.before(ctx); err != nil {
			return kernels.Completion{}, err
		}
	}
	version := int32(s.policy.version.Add(1))
	for _, id := range prompt {
		s.note(id, false, 0, -1)
	}
	s.prefixes = append(s.prefixes, slices.Clone(s.tokens))
	ids := s.policy.tokenizer.EncodePlain(now.say)
	if !now.open {
		ids = append(ids, sampling.Stop[0])
	}
	ids = ids[:min(len(ids), sampling.MaxTokens)]
	c := kernels.Completion{Tokens: ids, Stopped: ids[len(ids)-1] == sampling.Stop[0]}
	for i, id := range ids {
		logProb := -0.5 - float32(len(s.tokens)) - float32(i)/1024
		c.LogProbs, c.Versions = append(c.LogProbs, logProb), append(c.Versions, version)
		s.note(id, true, logProb, version)
	}
	if now.spoil != nil {
		now.spoil(&c)
	}
	return c, nil
}

func (s *scriptSession) note(id int32, sampled bool, logProb float32, version int32) {
	s.tokens, s.sampled = append(s.tokens, id), append(s.sampled, sampled)
	s.logProbs, s.versions = append(s.logProbs, logProb), append(s.versions, version)
}

func (s *scriptSession) Len() int { return len(s.tokens) }
func (s *scriptSession) Close()   { s.closed = true }

// memory makes sandboxes of maps.
type memory struct {
	open     func(ctx context.Context) error // nil: opens
	exec     func(ctx context.Context, b *box, command string) (sandbox.Result, error)
	snapshot func(*box) ([]schemas.File, error) // nil: what the box holds

	mu    sync.Mutex // guards boxes
	boxes []*box
}

func (m *memory) Open(ctx context.Context, label string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if m.open != nil {
		if err := m.open(ctx); err != nil {
			return nil, err
		}
	}
	b := &box{provider: m, label: label, opened: spec.Files, files: map[string]string{}}
	for _, f := range spec.Files {
		b.files[f.Path] = f.Content
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boxes = append(m.boxes, b)
	return b, nil
}

func (m *memory) Describe() string { return "memory" }
func (m *memory) Close() error     { return nil }

// leaked lists the sandboxes that were not closed.
func (m *memory) leaked() []string {
	var out []string
	for _, b := range m.boxes {
		if !b.closed {
			out = append(out, b.label)
		}
	}
	return out
}

type box struct {
	provider *memory
	label    string
	opened   []schemas.File
	files    map[string]string
	commands []string
	closed   bool
}

func (b *box) Exec(ctx context.Context, command string, _ time.Duration) (sandbox.Result, error) {
	b.commands = append(b.commands, command)
	if b.provider.exec == nil {
		return sandbox.Result{Output: "ok\n"}, nil
	}
	return b.provider.exec(ctx, b, command)
}

func (b *box) fs() fstest.MapFS {
	m := fstest.MapFS{}
	for path, content := range b.files {
		m[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

func (b *box) ReadFile(path string) ([]byte, error) { return b.fs().ReadFile(path) }

func (b *box) ReadDir(path string) ([]fs.DirEntry, error) { return b.fs().ReadDir(path) }

func (b *box) WriteFile(path string, data []byte) error {
	b.files[path] = string(bytes.Clone(data))
	return nil
}

func (b *box) Remove(path string) error {
	if _, ok := b.files[path]; !ok {
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	delete(b.files, path)
	return nil
}

func (b *box) Snapshot() ([]schemas.File, error) {
	if b.provider.snapshot != nil {
		return b.provider.snapshot(b)
	}
	var files []schemas.File
	for _, path := range slices.Sorted(maps.Keys(b.files)) {
		files = append(files, schemas.File{Path: path, Content: b.files[path]})
	}
	return files, nil
}

func (b *box) Patch(context.Context) (string, error) {
	after, err := b.Snapshot()
	return sandbox.Diff(b.opened, after), err
}

func (b *box) ImageDigest() string { return "" }

func (b *box) Close() error {
	b.closed = true
	return nil
}

// Calls in the form that the policy writes.
func call(name string, args ...string) string {
	c := tools.Call{Name: name, Args: map[string]string{}}
	for i := 0; i < len(args); i += 2 {
		c.Args[args[i]] = args[i+1]
	}
	return tools.Format(c)
}

func view(path string) turn { return turn{say: call("file_editor", "command", "view", "path", path)} }
func bash(cmd string) turn  { return turn{say: call("execute_bash", "cmd", cmd)} }
func replace(path, from, to string) turn {
	return turn{say: call("file_editor", "command", "str_replace", "path", path, "old_str", from, "new_str", to)}
}

var finish = turn{say: call("finish")}

// after lets a time pass before the turn.
func (t turn) after(d time.Duration) turn {
	t.before = func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return t
}

// untilEnd is a command that never returns by itself.
func untilEnd(ctx context.Context, _ *box, _ string) (sandbox.Result, error) {
	<-ctx.Done()
	return sandbox.Result{}, ctx.Err()
}

func order() schemas.Task {
	return schemas.Task{
		ID: "clamp/flip/1", Repo: "clamp", Statement: "Clamp is broken.", Iteration: 3, Rollouts: 4,
		Files: []schemas.File{
			{Path: "clamp.go", Content: "package clamp\n\nvar low = 1\n"},
			{Path: "clamp_test.go", Content: "package clamp\n"},
			{Path: "go.mod", Content: "module clamp\n"},
		},
	}
}

func config() Config {
	return Config{
		Limits: Limits{Context: 4000, Turn: 400, Steps: 8, Malformed: 3, Action: 20 * time.Second, Time: time.Minute},
		Prompt: BriefPrompt, Tools: tools.Limits{Style: tools.Brief, Action: 15 * time.Second},
		Sampling: kernels.Sampling{Temperature: 1}, Seed: 7, Attempts: 3,
	}
}

// agent makes an agent that plays turns in boxes.
func agent(t *testing.T, cfg Config, boxes sandbox.Provider, turns ...turn) (*Agent, *script) {
	t.Helper()
	tok := byteTokenizer(t)
	p := &script{tokenizer: tok, turns: turns}
	a, err := NewAgent(p, tok, boxes, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a, p
}
