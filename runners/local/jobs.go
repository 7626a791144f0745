package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"millrace/pipelines/submit"
	"millrace/runners/embedded"
	"millrace/runners/jobs"
)

// JobsList runs "millrace jobs list".
func JobsList(jobsDir, output string, out io.Writer) error {
	directory, err := jobsDirectory(jobsDir)
	if err != nil {
		return err
	}
	all, err := directory.List()
	if err != nil {
		return err
	}
	return table(output, out, []string{"id", "state", "stages", "submitted", "progress", "error"}, all, func(s jobs.Status) []any {
		return []any{s.ID, string(s.State), strings.Join(s.Stages, ","), s.Submitted.UTC().Format(time.RFC3339), progressOf(s), s.Error}
	})
}

// JobsShow runs "millrace jobs show ID".
func JobsShow(jobsDir, id string, asJSON bool, out io.Writer) error {
	job, status, err := findJob(jobsDir, id)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(status)
	}
	lines := []string{
		"id         " + status.ID,
		"state      " + string(status.State),
		"stages     " + strings.Join(status.Stages, ","),
		"submitted  " + status.Submitted.UTC().Format(time.RFC3339),
	}
	if status.State == jobs.Running {
		lines = append(lines, fmt.Sprintf("process    %d", status.Process.PID))
	}
	if !status.Ended.IsZero() {
		lines = append(lines, "ended      "+status.Ended.UTC().Format(time.RFC3339))
	}
	if progress := progressOf(status); progress != "" {
		lines = append(lines, "progress   "+progress)
	}
	if status.Error != "" {
		lines = append(lines, "error      "+status.Error)
	}
	lines = append(lines, "directory  "+job.Dir)
	if status.Result != nil {
		for _, w := range status.Result.Outputs {
			lines = append(lines, fmt.Sprintf("output     %s: %d rows", w.Where, w.Rows))
		}
	}
	lines = append(lines, countLines(status.Result)...)
	_, err = fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// JobsLogs runs "millrace jobs logs ID".
func JobsLogs(ctx context.Context, jobsDir, id string, follow bool, out io.Writer) error {
	job, _, err := findJob(jobsDir, id)
	if err != nil {
		return err
	}
	return job.Log(ctx, follow, out)
}

// How long a job that was told to stop now may take, sandboxes and broker
// included, and how long the kernel may take to end one that did not.
const (
	cancelTime = time.Minute
	killTime   = 10 * time.Second
)

// JobsCancel runs "millrace jobs cancel ID": it returns when the job has ended.
func JobsCancel(jobsDir, id string, out io.Writer) error {
	job, status, err := findRunning(jobsDir, id)
	if err != nil {
		return err
	}
	if err := status.Process.Signal(cancelSignal); err != nil && !errors.Is(err, jobs.ErrGone) {
		return err
	}
	if !status.Process.AwaitEnd(time.After(cancelTime)) {
		if err := status.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, jobs.ErrGone) {
			return err
		}
		if !status.Process.AwaitEnd(time.After(killTime)) {
			return fmt.Errorf("job %s: process %d does not end even when killed", id, status.Process.PID)
		}
	}
	if err := lastWord(job); err != nil {
		return err
	}
	return tellEnd(job, jobsDir, out)
}

// lastWord writes that a job is cancelled whose process could not do so itself.
func lastWord(job jobs.Job) error {
	lock, err := embedded.LockDir(job.Dir)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	status, err := job.Status()
	if err != nil || status.State != jobs.Lost {
		return err
	}
	status.State, status.Ended = jobs.Cancelled, time.Now()
	return job.Write(status)
}

// JobsDrain runs "millrace jobs drain ID": it returns when the job has ended, or
// ctx has.
func JobsDrain(ctx context.Context, jobsDir, id string, out io.Writer) error {
	job, status, err := findRunning(jobsDir, id)
	if err != nil {
		return err
	}
	if err := status.Process.Signal(drainSignal); err != nil && !errors.Is(err, jobs.ErrGone) {
		return err
	}
	if _, err := fmt.Fprintf(out, "job %s finishes the groups it has begun; it goes on doing so if this command is interrupted\n", id); err != nil {
		return err
	}
	interrupted := make(chan time.Time)
	defer context.AfterFunc(ctx, func() { close(interrupted) })()
	if !status.Process.AwaitEnd(interrupted) {
		return context.Cause(ctx)
	}
	return tellEnd(job, jobsDir, out)
}

func tellEnd(job jobs.Job, jobsDir string, out io.Writer) error {
	status, err := job.Status()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, jobLine(status, jobsDir))
	return err
}

func findJob(jobsDir, id string) (jobs.Job, jobs.Status, error) {
	directory, err := jobsDirectory(jobsDir)
	if err != nil {
		return jobs.Job{}, jobs.Status{}, err
	}
	job, err := directory.Open(id)
	if err != nil {
		return job, jobs.Status{}, err
	}
	status, err := job.Status()
	return job, status, err
}

func findRunning(jobsDir, id string) (jobs.Job, jobs.Status, error) {
	job, status, err := findJob(jobsDir, id)
	switch {
	case err != nil:
	case status.State != jobs.Running:
		err = fmt.Errorf("job %s is not running: it is %s", id, status.State)
	case status.Runs == 0:
		err = fmt.Errorf("job %s is being submitted at this moment: try again", id)
	}
	return job, status, err
}

// progressOf is how far a job is, in a few words.
func progressOf(s jobs.Status) string {
	switch {
	case s.Result != nil:
		return s.Result.String()
	case s.Total > 0:
		return fmt.Sprintf("%s %d/%d", s.Phase, s.Finished, s.Total)
	}
	return s.Phase
}

// jobLine is the last line of a job:
//
//	job 20261121-120501-3f9ac1 done: 4 of 4 groups, 32 samples, 0 dead letters
func jobLine(s jobs.Status, jobsDir string) string {
	line := fmt.Sprintf("job %s %s", s.ID, s.State)
	if s.Error != "" {
		line += ": " + s.Error
	} else if s.Result != nil {
		line += ": " + s.Result.String()
	}
	if s.State == jobs.Done {
		return line
	}
	again := "millrace submit --resume " + s.ID
	if jobsDir != "" {
		again = fmt.Sprintf("millrace submit --jobs-dir %s --resume %s", jobsDir, s.ID)
	}
	return line + "; go on with: " + again
}

// countLines is the balance of a job's stages, a line each.
func countLines(r *submit.Result) []string {
	if r == nil {
		return nil
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "stage\tin\tout\tdead-lettered\tpending")
	for _, c := range r.Counts {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", c.Stage, c.In, c.Out, c.Dead, c.Pending)
	}
	w.Flush()
	return strings.Split(strings.TrimSpace(text.String()), "\n")
}

// oneLine is an error without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
