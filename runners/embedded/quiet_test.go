package embedded

import (
	"bytes"
	"context"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func TestQuietLowersOnlyBeam(t *testing.T) {
	ofBeam := reflect.ValueOf(beam.Init).Pointer() + 1
	ours := reflect.ValueOf(StartBroker).Pointer() + 1
	for level, want := range map[slog.Level]string{slog.LevelWarn: "ours", slog.LevelDebug: "beam ours"} {
		var text bytes.Buffer
		h := Quiet(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level})).WithAttrs(nil).WithGroup("")
		for _, r := range []slog.Record{
			slog.NewRecord(time.Now(), slog.LevelError, "beam", ofBeam),
			slog.NewRecord(time.Now(), slog.LevelError, "ours", ours),
		} {
			if err := h.Handle(context.Background(), r); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, field := range strings.Fields(text.String()) {
			if message, ok := strings.CutPrefix(field, "msg="); ok {
				got = append(got, message)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("at %v: %s", level, text.String())
		}
		if want != "ours" && !strings.Contains(text.String(), "level=DEBUG msg=beam") {
			t.Errorf("Beam's error keeps its level: %s", text.String())
		}
	}
}
