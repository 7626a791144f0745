package flink

import (
	"context"
	"strings"
	"testing"

	"millrace/pipelines/stage"
)

// TestCause: of what Flink reports, one line is left, and it is the innermost.
func TestCause(t *testing.T) {
	for _, c := range []struct{ report, want string }{
		{"plain text", "plain text"},
		{
			"org.apache.flink.client.program.ProgramInvocationException: Job failed (JobID: 12)\n" +
				"\tat org.apache.flink.client.Deployment.run(Deployment.java:130)\n" +
				"Caused by: java.lang.RuntimeException: Error received from SDK harness for instruction 7: process bundle failed\n" +
				"\tcaused by:\nmaking work stage.Score: this program has no makers named \"x\"\n" +
				"\tat org.apache.beam.runners.fnexecution.control.FnApiControlClient.onNext(FnApiControlClient.java:180)\n\t... 3 more\n",
			`making work stage.Score: this program has no makers named "x"`,
		},
	} {
		if got := cause(c.report); got != c.want {
			t.Errorf("cause is %q, want %q", got, c.want)
		}
	}
}

func TestStartRefusesBadSettings(t *testing.T) {
	c := stage.FlinkConfig{JobServer: "nowhere", Worker: "millrace"}
	_, err := Start(c)(context.Background(), "job", nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"job_server", "parallelism", "absolute path"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not mention %s", err, want)
		}
	}
}

func TestWorkNeedsATaskManager(t *testing.T) {
	for _, args := range [][]string{nil, {"--id=1"}, {"--unknown"}} {
		if err := Work(context.Background(), args); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: got %v, want one line", args, err)
		}
	}
}
