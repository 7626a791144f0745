package learn

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"millrace/schemas"
)

// TestReadCommitted: what is committed is read beside a running learner; what a
// crash left behind it is not; a ledger that is too short is an error.
func TestReadCommitted(t *testing.T) {
	dir := t.TempDir()
	if got, err := ReadCommitted(dir); err != nil || len(got.Updates) != 0 {
		t.Fatalf("nothing committed: %+v, %v", got, err)
	}
	frame, err := schemas.Updates.Encode(schemas.Update{Run: "r", Step: 1})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := func(bytes string) {
		t.Helper()
		write("step-000001/state.json", `{"format":1,"run":"r","step":1,"optimizer_step":1,"positions":[{"Topic":"s","Partition":0,"Offset":9}],"ledger_bytes":`+bytes+`}`)
	}
	length := len(frame)
	write("CURRENT", "step-000001\n")
	write("ledger.frames", string(frame)+"torn by a crash")
	state(strconv.Itoa(length))
	got, err := ReadCommitted(dir)
	if err != nil || len(got.Updates) != 1 || got.Updates[0].Step != 1 || got.Positions[0].Offset != 9 {
		t.Errorf("read %+v, %v", got, err)
	}
	if left, err := os.ReadFile(filepath.Join(dir, "ledger.frames")); err != nil || len(left) == length {
		t.Errorf("reading cut the ledger to %d bytes, %v", len(left), err)
	}
	state(strconv.Itoa(length + 100))
	if _, err := ReadCommitted(dir); err == nil || !strings.Contains(err.Error(), "ledger.frames has") {
		t.Errorf("short ledger: %v", err)
	}
	write("CURRENT", "../elsewhere\n")
	if _, err := ReadCommitted(dir); err == nil || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("foreign CURRENT: %v", err)
	}
}
