package flink

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestEnd: of all jobs, those of the name that still run are cancelled, each once,
// and waited for.
func TestEnd(t *testing.T) {
	type job struct{ JID, Name, State string }
	jobs := []job{
		{"a", "run.score", "RUNNING"}, {"b", "run.score", "RESTARTING"}, {"c", "run.score", "FAILED"}, {"d", "run.advantage", "RUNNING"},
	}
	var cancelled []string
	looks := 0
	manager := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			cancelled = append(cancelled, r.URL.String())
			return
		}
		if looks++; looks == 3 {
			jobs[0].State, jobs[1].State = "CANCELED", "CANCELED"
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"jobs": jobs}); err != nil {
			t.Error(err)
		}
	}))
	defer manager.Close()
	if err := rest(manager.URL).end(t.Context(), "run.score"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/jobs/a?mode=cancel", "/jobs/b?mode=cancel"}; !slices.Equal(cancelled, want) || looks != 3 {
		t.Errorf("cancelled %q in %d looks, want %q in 3", cancelled, looks, want)
	}
}

func TestEndSaysWhatIsWrong(t *testing.T) {
	manager := httptest.NewServer(http.NotFoundHandler())
	err := rest(manager.URL).end(t.Context(), "run.score")
	if err == nil || !strings.Contains(err.Error(), "404 Not Found to GET /jobs/overview") {
		t.Errorf("a server that is no JobManager: %v", err)
	}
	manager.Close()
	if err := rest(manager.URL).end(t.Context(), "run.score"); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("no server: %v", err)
	}
}
