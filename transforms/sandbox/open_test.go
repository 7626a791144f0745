package sandbox

import (
	"testing"
	"time"

	"millrace/schemas"
)

func open(t testing.TB, p Provider, files ...schemas.File) Sandbox {
	t.Helper()
	s, err := p.Open(t.Context(), t.Name(), Spec{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func run(t testing.TB, s Sandbox, command string) Result {
	t.Helper()
	r, err := s.Exec(t.Context(), command, time.Minute)
	if err != nil {
		t.Fatalf("Exec(%q): %v", command, err)
	}
	return r
}
