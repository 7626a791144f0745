package train

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// shipped is the warm-started policy, a Hugging Face directory made by
// "millrace warmstart".
//
//go:embed policy
var shipped embed.FS

// shippedPolicy unpacks the shipped policy into dir and returns dir, so that it
// is read, and can be inspected, like any other checkpoint.
func shippedPolicy(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("unpacking the shipped policy: %w", err)
	}
	entries, err := fs.ReadDir(shipped, "policy")
	if err != nil {
		return "", fmt.Errorf("unpacking the shipped policy: %w", err)
	}
	for _, e := range entries {
		data, err := shipped.ReadFile(path.Join("policy", e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, e.Name()), data, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("unpacking the shipped policy: %w", err)
		}
	}
	return dir, nil
}
