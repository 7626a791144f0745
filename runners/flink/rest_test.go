package flink

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEnd: of all jobs, the starts of the name that still run are cancelled, each
// until it has ended, although the first list lacks them and the first request is
// lost.
func TestEnd(t *testing.T) {
	type job struct{ JID, Name, State string }
	jobs := []job{
		{"a", "run.score~1", "RUNNING"}, {"b", "run.score~2", "RESTARTING"}, {"c", "run.score~3", "FAILED"},
		{"d", "run.advantage~1", "RUNNING"}, {"e", "run.scores~1", "RUNNING"},
	}
	var cancelled []string
	looks := 0
	manager := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		id := strings.TrimPrefix(r.URL.Path, "/jobs/")
		at := slices.IndexFunc(jobs, func(j job) bool { return j.JID == id })
		switch {
		case r.Method == http.MethodPatch:
			if cancelled = append(cancelled, r.URL.String()); len(cancelled) == 1 {
				http.Error(w, "busy", http.StatusInternalServerError)
			}
			jobs[at].State = "CANCELED"
			return
		case id == "overview":
			if looks++; looks == 1 {
				answer = map[string]any{"jobs": jobs[3:]}
			} else {
				answer = map[string]any{"jobs": jobs}
			}
		default:
			answer = jobs[at]
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer manager.Close()
	if err := rest(manager.URL).end(t.Context(), startsOf("run.score"), time.Minute); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/jobs/a?mode=cancel", "/jobs/b?mode=cancel"}; !slices.Equal(cancelled, want) || looks != 2 {
		t.Errorf("cancelled %q in %d looks, want %q in 2", cancelled, looks, want)
	}
	if err := rest(manager.URL).end(t.Context(), startsOf("nobody"), 0); err != nil {
		t.Errorf("a job that was never there: %v", err)
	}
}

func TestEndSaysWhatIsWrong(t *testing.T) {
	manager := httptest.NewServer(http.NotFoundHandler())
	err := rest(manager.URL).end(t.Context(), startsOf("run.score"), 0)
	if err == nil || !strings.Contains(err.Error(), "404 Not Found to GET /jobs/overview") {
		t.Errorf("a server that is no JobManager: %v", err)
	}
	manager.Close()
	if err := rest(manager.URL).end(t.Context(), startsOf("run.score"), 0); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("no server: %v", err)
	}
}

func TestStartsAreTold(t *testing.T) {
	one, two := newStart("run.score"), newStart("run.score")
	if one == two || !startsOf("run.score")(one) || startsOf("run")(one) {
		t.Errorf("starts %s and %s", one, two)
	}
}
