package flink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	restTimeout = 30 * time.Second
	// endPoll is the pause between two looks at whether a job has ended, askAgain
	// that between two requests that it shall.
	endPoll  = 200 * time.Millisecond
	askAgain = 5 * time.Second
)

// rest is the address of a JobManager's web interface, "http://host:port".
type rest string

// refusal is an answer of the JobManager that is none.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return r.text }

// do asks the JobManager and decodes its answer into out, unless that is nil.
func (r rest) do(ctx context.Context, method, path string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, string(r)+path, nil)
	if err != nil {
		return fmt.Errorf("asking the JobManager: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the JobManager does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return &refusal{response.StatusCode, fmt.Sprintf("the JobManager answers %s to %s %s", response.Status, method, path)}
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("reading the JobManager's answer to %s: %w", path, err)
	}
	return nil
}

// end cancels the jobs whose names match and returns when they have ended. It is
// needed because Beam's job server, told to cancel a job, stops waiting for it and
// lets it run; and because a process that was killed told nobody anything.
func (r rest) end(ctx context.Context, match func(name string) bool, patience time.Duration) error {
	ids, err := r.find(ctx, match, patience)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := r.cancel(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// find returns the ids of the jobs whose names match and which have not ended. A
// busy JobManager leaves jobs out of its list, so it is asked until one that
// matches is listed, ended or not, but not longer than patience.
func (r rest) find(ctx context.Context, match func(name string) bool, patience time.Duration) (ids []string, err error) {
	for until := time.Now().Add(patience); ; {
		var overview struct {
			Jobs []struct{ JID, Name, State string }
		}
		if err := r.do(ctx, http.MethodGet, "/jobs/overview", &overview); err != nil {
			return nil, err
		}
		listed := false
		for _, job := range overview.Jobs {
			if !match(job.Name) {
				continue
			}
			listed = true
			if !ended(job.State) {
				ids = append(ids, job.JID)
			}
		}
		if listed || time.Now().After(until) {
			return ids, nil
		}
		if err := wait(ctx, endPoll); err != nil {
			return nil, err
		}
	}
}

// cancel asks for the end of a job until it has come. What fails on the way is
// tried again; a job that the JobManager does not know has ended.
func (r rest) cancel(ctx context.Context, id string) error {
	path := "/jobs/" + url.PathEscape(id)
	var failed error
	for asked := (time.Time{}); ; {
		var job struct{ State string }
		err := r.do(ctx, http.MethodGet, path, &job)
		if no, ok := errors.AsType[*refusal](err); ok && no.code == http.StatusNotFound || err == nil && ended(job.State) {
			return nil
		}
		if err == nil && time.Since(asked) > askAgain {
			err, asked = r.do(ctx, http.MethodPatch, path+"?mode=cancel", nil), time.Now()
		}
		if err != nil {
			failed = err
		}
		if err := wait(ctx, endPoll); err != nil {
			return fmt.Errorf("job %s still runs on the cluster: %w", id, errors.Join(err, failed))
		}
	}
}

func ended(state string) bool {
	switch state {
	case "FINISHED", "CANCELED", "FAILED":
		return true
	}
	return false
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
