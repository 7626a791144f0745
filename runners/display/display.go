// Package display shows a run to the person who started it: on a terminal a
// block of lines that is redrawn in place, elsewhere plain lines.
package display

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	// drawEvery is the least time between two redraws for progress alone, so that
	// a fast stage does not spend its time on the terminal.
	drawEvery = 100 * time.Millisecond
	// plainEvery is the least time between two plain lines of progress.
	plainEvery = 5 * time.Second
)

// Config says where and how a Display writes.
type Config struct {
	Out io.Writer
	// Size returns the columns and rows of the terminal that Out is. Nil makes
	// plain lines.
	Size func() (columns, rows int)
	// Now is the clock.
	Now func() time.Time
}

// Display shows the progress of a run. It is safe for concurrent use, never
// blocks longer than its writer, and ignores the writer's errors: a closed
// terminal must not end a run.
type Display struct {
	mu    sync.Mutex // guards all below
	out   io.Writer
	size  func() (columns, rows int)
	now   func() time.Time
	state state
	block block
	// drawn is when the block was last drawn; told when a plain line of progress
	// was last written.
	drawn, told time.Time
	partial     string // what Write was given behind the last newline
	closed      bool
}

// Open shows a run on f, in place if f is a terminal that can do so.
func Open(f *os.File) *Display {
	c := Config{Out: f, Now: time.Now}
	if term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		c.Size = func() (int, int) {
			columns, rows, err := term.GetSize(int(f.Fd()))
			if err != nil || columns <= 0 || rows <= 0 {
				return 80, 24 // the size of a terminal that does not tell
			}
			return columns, rows
		}
	}
	return New(c)
}

// New returns a Display of its own clock and writer.
func New(c Config) *Display {
	return &Display{out: c.Out, size: c.Size, now: c.Now}
}

// Phase begins a phase of total units, 0 if that is not known.
func (d *Display) Phase(name string, total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.begin(clean(name), total, d.now())
	if d.size == nil {
		d.told = d.now()
		d.line(d.state.phaseLine(d.now()))
	}
	d.draw(true)
}

// Progress tells how many units of the phase are done.
func (d *Display) Progress(done int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.done = done
	if d.size == nil && d.now().Sub(d.told) >= plainEvery {
		d.told = d.now()
		d.line(d.state.phaseLine(d.now()))
	}
	d.draw(false)
}

// Step tells that a step is done, and its metrics.
func (d *Display) Step(step, of int64, metrics map[string]float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.stepped(step, of, metrics, d.now())
	if d.size == nil {
		d.line(d.state.stepLine())
	}
	d.draw(true)
}

// Stages tells what the stages do. Rates are taken from the last call to this.
func (d *Display) Stages(stages []Stage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.observe(stages, d.now())
	d.draw(false)
}

// Note writes a lasting line.
func (d *Display) Note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.line(clean(text))
}

// Write makes a note of each line, so that a log may go through the display
// instead of over it. What stands behind the last newline waits for its end.
func (d *Display) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := strings.Split(d.partial+string(p), "\n")
	d.partial = lines[len(lines)-1]
	for _, l := range lines[:len(lines)-1] {
		d.line(clean(l))
	}
	return len(p), nil
}

// Close takes the block away; notes and plain lines stay. On a terminal, later
// calls write notes and nothing else.
func (d *Display) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.partial != "" {
		d.line(clean(d.partial))
		d.partial = ""
	}
	if d.size == nil || d.closed {
		return
	}
	d.closed = true
	columns, _ := d.size()
	io.WriteString(d.out, d.block.erase(columns))
}

// line writes a lasting line, above the block if there is one.
func (d *Display) line(text string) {
	if d.size == nil || d.closed {
		io.WriteString(d.out, text+"\n")
		return
	}
	columns, rows := d.size()
	io.WriteString(d.out, d.block.erase(columns)+text+"\n"+d.block.draw(d.state.lines(columns, d.now()), columns, rows))
	d.drawn = d.now()
}

// draw redraws the block, unless it was just drawn and this is not urgent.
func (d *Display) draw(urgent bool) {
	if d.size == nil || d.closed || !urgent && d.now().Sub(d.drawn) < drawEvery {
		return
	}
	columns, rows := d.size()
	io.WriteString(d.out, d.block.erase(columns)+d.block.draw(d.state.lines(columns, d.now()), columns, rows))
	d.drawn = d.now()
}
