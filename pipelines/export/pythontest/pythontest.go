// Package pythontest finds the Python that pipelines/export/python.sh installs.
package pythontest

import (
	"os"
	"path/filepath"
	"testing"
)

// Interpreter returns a Python with DuckDB, pyarrow and Polars. Without it a test is
// skipped by name, or fails where nothing may be left out.
func Interpreter(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, "millrace", "python", "bin", "python")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatalf("no DuckDB, pyarrow and Polars: %v", err)
		}
		t.Skipf("no DuckDB, pyarrow and Polars: %v", err)
	}
	return path
}
