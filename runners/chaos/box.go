package chaos

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"testing/fstest"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// What the boxes know of the campaign's tasks.
const (
	answerFile  = "answer.txt"
	wantFile    = "want_test.txt"
	unanswered  = "answer: none\n"
	testCommand = "compare"
	testName    = "TestAnswer"
	answers     = 4
)

// boxes makes sandboxes of maps, whose one command compares the answer with the
// wanted one: a campaign is about records and processes, and namespaces would
// take all of its time. work is called within each command.
type boxes struct {
	work func()
}

func (p boxes) Open(_ context.Context, _ string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	b := &box{provider: p, opened: spec.Files, files: map[string]string{}}
	for _, f := range spec.Files {
		b.files[f.Path] = f.Content
	}
	return b, nil
}

func (boxes) Describe() string { return "boxes of a fault campaign" }
func (boxes) Close() error     { return nil }

type box struct {
	provider boxes
	opened   []schemas.File
	files    map[string]string
}

func (b *box) Exec(_ context.Context, command string, _ time.Duration) (sandbox.Result, error) {
	if command != testCommand {
		return sandbox.Result{Output: command + ": not found\n", ExitCode: 127}, nil
	}
	b.provider.work()
	action := "fail"
	if b.files[answerFile] == "answer: "+b.files[wantFile]+"\n" {
		action = "pass"
	}
	return sandbox.Result{Output: fmt.Sprintf("{\"Action\":%q,\"Package\":\"guess\",\"Test\":%q}\n", action, testName)}, nil
}

func (b *box) fs() fstest.MapFS {
	m := fstest.MapFS{}
	for path, content := range b.files {
		m[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

func (b *box) ReadFile(path string) ([]byte, error)       { return b.fs().ReadFile(path) }
func (b *box) ReadDir(path string) ([]fs.DirEntry, error) { return b.fs().ReadDir(path) }

func (b *box) WriteFile(path string, data []byte) error {
	b.files[path] = string(bytes.Clone(data))
	return nil
}

func (b *box) Remove(path string) error {
	delete(b.files, path)
	return nil
}

func (b *box) Snapshot() ([]schemas.File, error) {
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
func (b *box) Close() error        { return nil }
