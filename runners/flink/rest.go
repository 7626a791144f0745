package flink

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	restTimeout = 10 * time.Second
	// endPoll is the pause between two looks at whether a job has ended.
	endPoll = 200 * time.Millisecond
)

// rest is the address of a JobManager's web interface, "http://host:port".
type rest string

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
		return fmt.Errorf("the JobManager answers %s to %s %s", response.Status, method, path)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("reading the JobManager's answer to %s: %w", path, err)
	}
	return nil
}

// running are the ids of the jobs of a name that have not ended.
func (r rest) running(ctx context.Context, name string) ([]string, error) {
	var overview struct {
		Jobs []struct{ JID, Name, State string }
	}
	if err := r.do(ctx, http.MethodGet, "/jobs/overview", &overview); err != nil {
		return nil, err
	}
	var ids []string
	for _, job := range overview.Jobs {
		switch job.State {
		case "FINISHED", "CANCELED", "FAILED":
		default:
			if job.Name == name {
				ids = append(ids, job.JID)
			}
		}
	}
	return ids, nil
}

// end cancels the jobs of a name and returns when they have ended. It is needed
// because Beam's job server, told to cancel a job, stops waiting for it and lets
// it run; and because a process that was killed told nobody anything.
func (r rest) end(ctx context.Context, name string) error {
	asked := map[string]bool{}
	for {
		ids, err := r.running(ctx, name)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if asked[id] {
				continue
			}
			if err := r.do(ctx, http.MethodPatch, "/jobs/"+url.PathEscape(id)+"?mode=cancel", nil); err != nil {
				return err
			}
			asked[id] = true
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("job %s still runs on the cluster: %w", name, context.Cause(ctx))
		case <-time.After(endPoll):
		}
	}
}
