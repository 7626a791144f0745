package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	weightsFile = "model.safetensors"
	indexFile   = "model.safetensors.index.json"
)

// openWeights opens the file or the shards of a model. The files opened so far are
// returned with an error too, to be closed.
func openWeights(dir string) ([]*container, error) {
	path := filepath.Join(dir, weightsFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		c, err := openContainer(path)
		if err != nil {
			return nil, err
		}
		return []*container{c}, nil
	}
	path = filepath.Join(dir, indexFile)
	data, err := readJSON(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has neither %s nor %s", dir, weightsFile, indexFile)
	}
	if err != nil {
		return nil, err
	}
	shards, err := parseIndex(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var files []*container
	for _, shard := range shards {
		c, err := openContainer(filepath.Join(dir, shard.name))
		if err != nil {
			return files, err
		}
		files = append(files, c)
		var found []string
		for _, e := range c.header.entries {
			found = append(found, e.name)
		}
		slices.Sort(found)
		if !slices.Equal(found, shard.tensors) {
			return files, fmt.Errorf("%s: the tensors are not those that %s lists for it: %s", c.path, indexFile, difference(found, shard.tensors))
		}
	}
	return files, nil
}

// shard is one file of an index with the tensors it must hold, sorted.
type shard struct {
	name    string
	tensors []string
}

// parseIndex reads an index {"weight_map": {tensor: file}} into its files, sorted
// by name.
func parseIndex(data []byte) ([]shard, error) {
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, err
	}
	if len(index.WeightMap) == 0 {
		return nil, errors.New("weight_map is missing or empty")
	}
	byFile := make(map[string][]string)
	for tensor, file := range index.WeightMap {
		// Only files of the same directory: an index is not a way to read others.
		if filepath.Base(file) != file || !filepath.IsLocal(file) || !strings.HasSuffix(file, ".safetensors") {
			return nil, fmt.Errorf("weight_map: tensor %q is in %q, want the name of a .safetensors file beside the index", tensor, file)
		}
		byFile[file] = append(byFile[file], tensor)
	}
	shards := make([]shard, 0, len(byFile))
	for name, tensors := range byFile {
		slices.Sort(tensors)
		shards = append(shards, shard{name, tensors})
	}
	slices.SortFunc(shards, func(a, b shard) int { return strings.Compare(a.name, b.name) })
	return shards, nil
}

// difference names the first element in which two sorted lists differ.
func difference(found, want []string) string {
	for i := range max(len(found), len(want)) {
		switch {
		case i >= len(want) || i < len(found) && found[i] < want[i]:
			return fmt.Sprintf("%q is not listed", found[i])
		case i >= len(found) || found[i] > want[i]:
			return fmt.Sprintf("%q is missing", want[i])
		}
	}
	return "none"
}
