package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// Quiet returns a handler that passes everything to next except what Beam logs,
// which it passes at debug level. Prism and the SDK tell each stage, worker and
// failed bundle at length and at error level; the failure itself is returned by
// Job.Wait in one line.
func Quiet(next slog.Handler) slog.Handler { return beamFilter{next} }

// initBeam initialises Beam and undoes what that does to the process's logger:
// Beam installs its own, at info level. It also keeps the SDK's log lines from
// going round through gRPC to Prism's logger.
func initBeam() {
	current := slog.Default().Handler()
	if !beam.Initialized() {
		beam.Init()
	}
	if _, done := current.(beamFilter); !done {
		// slog's initial handler writes through package log, which SetDefault points
		// back at slog: wrapping it would never return.
		if fmt.Sprintf("%T", current) == "*slog.defaultHandler" {
			current = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})
		}
		current = Quiet(current)
	}
	slog.SetDefault(slog.New(current))
	hooks.DisableHook(harness.DefaultRemoteLoggingHook)
	log.SetLogger(beamLog{})
}

// beamLog is the SDK's logger.
type beamLog struct{}

func (beamLog) Log(ctx context.Context, _ log.Severity, _ int, message string) {
	slog.DebugContext(ctx, message)
}

// beamFilter lowers the level of records that were logged by Beam's code.
type beamFilter struct{ next slog.Handler }

func (f beamFilter) Enabled(ctx context.Context, level slog.Level) bool {
	return f.next.Enabled(ctx, level)
}

func (f beamFilter) Handle(ctx context.Context, r slog.Record) error {
	frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
	if strings.HasPrefix(frame.Function, "github.com/apache/beam/") {
		r.Level = slog.LevelDebug
		if !f.next.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return f.next.Handle(ctx, r)
}

func (f beamFilter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return beamFilter{f.next.WithAttrs(attrs)}
}

func (f beamFilter) WithGroup(name string) slog.Handler { return beamFilter{f.next.WithGroup(name)} }
