package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzRead: no file makes Read panic, and a line that is read says the same when
// it is written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"step":1,"time":5,"metrics":{"a":1.5,"b":null}}`+"\n"), []byte(`{"step":0,"set":"s","pass@1":{"mean":0.5,"low":0,"high":1}}`+"\n"))
	f.Add([]byte("{\"step\":1,\"metrics\":{}}\n{\"step\":2"), []byte("\n"))
	f.Add([]byte(`{"step":9223372036854775807,"time":-9223372036854775808,"metrics":{"a":1e400}}`+"\n"), []byte("null\n[]\n"))
	f.Fuzz(func(t *testing.T, steps, evaluations []byte) {
		dir := t.TempDir()
		for name, content := range map[string][]byte{metricsFile: steps, evaluationsFile: evaluations} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Read(dir)
		if err != nil {
			return
		}
		if len(r.Steps) > bytes.Count(steps, []byte("\n")) || len(r.Evaluations) > bytes.Count(evaluations, []byte("\n")) {
			t.Fatalf("%d steps and %d evaluations are more than there are lines", len(r.Steps), len(r.Evaluations))
		}
		for i, s := range r.Steps {
			if i > 0 && s.Number <= r.Steps[i-1].Number {
				t.Fatalf("step %d follows step %d", s.Number, r.Steps[i-1].Number)
			}
			again(t, s, s.line(), parseStep)
		}
		for _, e := range r.Evaluations {
			again(t, e, e.line(), parseEvaluation)
		}
	})
}

func again[T any](t *testing.T, want T, line any, parse func([]byte) (T, error)) {
	t.Helper()
	b, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parse(b)
	if err != nil {
		t.Fatalf("%s is refused: %v", b, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("%s differs:\n%s", b, diff)
	}
}
