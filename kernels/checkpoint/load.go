package checkpoint

import (
	"fmt"
	"math"
	"slices"

	"millrace/kernels"
)

// place is where a tensor lies.
type place struct {
	file  *container
	entry entry
}

// Load reads a model directory: the configuration and all of its tensors, in the
// order of [Layout]. The weights are model.safetensors if that is there, else the
// shards of model.safetensors.index.json. Headers are checked before any data is
// read; a tensor that is missing, unknown or of another shape or type is an error
// that names tensor and file. A tied model may come with an lm_head equal to its
// embedding; it is left out.
func Load(dir string) (kernels.Config, []kernels.Tensor, error) {
	cfg, err := ReadConfig(dir)
	if err != nil {
		return kernels.Config{}, nil, err
	}
	files, err := openWeights(dir)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		return kernels.Config{}, nil, err
	}
	places := make(map[string]place)
	for _, f := range files {
		for _, e := range f.header.entries {
			if other, twice := places[e.name]; twice {
				return kernels.Config{}, nil, fmt.Errorf("%s: tensor %q is in %s already", f.path, e.name, other.file.path)
			}
			places[e.name] = place{f, e}
		}
	}
	tensors, err := readModel(dir, cfg, places)
	if err != nil {
		return kernels.Config{}, nil, err
	}
	return cfg, tensors, nil
}

// readModel takes the tensors of the layout from their places, which must hold no
// others.
func readModel(dir string, cfg kernels.Config, places map[string]place) ([]kernels.Tensor, error) {
	layout := Layout(cfg)
	spare, hasSpare := places[head]
	hasSpare = hasSpare && cfg.TieWordEmbeddings
	known := len(layout)
	if hasSpare {
		known++
		layout = append(layout, Shape{head, layout[0].Shape})
	}
	names := make(map[string]struct{}, len(layout))
	for _, want := range layout {
		names[want.Name] = struct{}{}
		p, ok := places[want.Name]
		if !ok {
			return nil, fmt.Errorf("%s: tensor %q is missing", dir, want.Name)
		}
		if !slices.Equal(p.entry.shape, want.Shape) {
			return nil, fmt.Errorf("%s: tensor %q has shape %v, want %v by %s", p.file.path, want.Name, p.entry.shape, want.Shape, configFile)
		}
	}
	if len(places) > known {
		return nil, unknownTensor(places, names)
	}
	if hasSpare {
		layout = layout[:len(layout)-1]
	}
	tensors := make([]kernels.Tensor, len(layout))
	for i, want := range layout {
		p := places[want.Name]
		t, err := p.file.read(p.entry)
		if err != nil {
			return nil, err
		}
		tensors[i] = t
	}
	if hasSpare {
		t, err := spare.file.read(spare.entry)
		if err != nil {
			return nil, err
		}
		if !equalBits(t.Data, tensors[0].Data) {
			return nil, fmt.Errorf("%s: tensor %q differs from %q, but %s ties them", spare.file.path, head, embedding, configFile)
		}
	}
	return tensors, nil
}

// unknownTensor is the error for the first tensor, by name, that is not in names.
func unknownTensor(places map[string]place, names map[string]struct{}) error {
	first := ""
	for name := range places {
		if _, known := names[name]; !known && (first == "" || name < first) {
			first = name
		}
	}
	return fmt.Errorf("%s: tensor %q does not belong to a model of %s", places[first].file.path, first, configFile)
}

func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}
