package local

import (
	"millrace/pipelines/train"
	"millrace/runners/display"
)

// screens shows a job on several displays and records it.
type screens struct {
	displays []*display.Display
	recorder *recorder
}

// Phase implements submit.Observer.
func (s screens) Phase(name string, total int) {
	s.recorder.Phase(name, total)
	for _, d := range s.displays {
		d.Phase(name, total)
	}
}

// Progress implements submit.Observer.
func (s screens) Progress(done int) {
	s.recorder.Progress(done)
	for _, d := range s.displays {
		d.Progress(done)
	}
}

// Stages implements submit.Observer.
func (s screens) Stages(states []train.StageState) {
	for _, d := range s.displays {
		observer{d}.Stages(states)
	}
}

// Note implements submit.Observer.
func (s screens) Note(text string) {
	for _, d := range s.displays {
		d.Note(text)
	}
}

// Write makes a note of each line of a log.
func (s screens) Write(p []byte) (int, error) {
	for _, d := range s.displays {
		d.Write(p)
	}
	return len(p), nil
}
