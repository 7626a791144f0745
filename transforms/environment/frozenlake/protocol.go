package frozenlake

import (
	"fmt"
	"strings"

	"millrace/transforms/environment"
)

// Protocol is the form of observations and answers.
type Protocol string

const (
	// Published is rLLM's: rules, the grid, and sentences around it; the answer is
	// the last block in triple backticks, a word or a digit. The sentences are ours.
	Published Protocol = "published"
	// Compact says the same in a few words, for policies of a hundred thousand
	// parameters: one for each hole and, last, one for the goal, made of the glyph and
	// of the way there from where the player stands, up or down and then left or
	// right (" Ol Gddr": a hole on the left, the goal two down and one to the right).
	// Ice is left out. The answer is the last word that names a direction.
	Compact Protocol = "compact"
)

// glyph is how the grid shows a tile.
type glyph rune

const (
	player  glyph = 'P'
	ice     glyph = '_'
	hole    glyph = 'O'
	goal    glyph = 'G'
	drowned glyph = 'X'
	arrived glyph = '√'
)

// turn is what an observation tells.
type turn struct {
	view    string
	taken   int
	left    int  // steps; 0: not told
	unmoved bool // the view is that of the turn before
	over    bool
}

// speech is one protocol.
type speech struct {
	system func(slippery bool) string
	view   func(*walk) string
	frame  func(turn) string
	read   func(turn string) Move
	words  []string
}

var protocols = map[Protocol]speech{
	Published: {
		system: publishedSystem, view: grid, frame: publishedFrame,
		read:  reader(environment.LastFenced, map[string]string{}),
		words: []string{"```Left```", "```Down```", "```Right```", "```Up```"},
	},
	Compact: {
		system: func(bool) string { return " Walk to G" }, view: ways, frame: compactFrame,
		read:  reader(environment.LastWord, map[string]string{"l": "left", "d": "down", "r": "right", "u": "up"}),
		words: []string{"left", "down", "right", "up"},
	},
}

// reader reads directions by their words, their numbers and the short forms.
func reader(find func(string, map[string]string) (string, bool), short map[string]string) func(string) Move {
	moves := map[string]Move{}
	for m := Left; m <= Up; m++ {
		short[m.String()], short[fmt.Sprint(int(m))] = m.String(), m.String()
		moves[m.String()] = m
	}
	return func(turn string) Move {
		word, _ := find(turn, short)
		return moves[word]
	}
}

// grid is rLLM's: a cell is its glyph between spaces and a tab, a row a line.
func grid(w *walk) string {
	var b strings.Builder
	for i := range w.board.Tiles {
		if i > 0 && i%w.board.Size == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, " %c \t", w.glyph(place{i / w.board.Size, i % w.board.Size}))
	}
	return b.String()
}

// ways is one word a tile that is not ice, the goal's last: what matters most stands
// nearest to the answer. Of a walk that is over it is the end alone.
func ways(w *walk) string {
	if w.over() {
		return fmt.Sprintf(" %c", w.glyph(w.at))
	}
	var holes, end string
	for i, tile := range w.board.Tiles {
		p := place{i / w.board.Size, i % w.board.Size}
		switch tile {
		case Hole:
			holes += fmt.Sprintf(" %c%s", hole, way(w.at, p))
		case Goal:
			end = fmt.Sprintf(" %c%s", goal, way(w.at, p))
		}
	}
	return holes + end
}

// way is a letter for each step from one tile to another.
func way(from, to place) string {
	return strings.Repeat("u", max(0, from.row-to.row)) + strings.Repeat("d", max(0, to.row-from.row)) +
		strings.Repeat("l", max(0, from.col-to.col)) + strings.Repeat("r", max(0, to.col-from.col))
}

func compactFrame(t turn) string {
	text := t.view
	if t.unmoved {
		text = " same" + text
	}
	if t.left > 0 && !t.over {
		text = fmt.Sprintf(" %d", t.left) + text
	}
	return text
}

func publishedSystem(slippery bool) string {
	ice := "4. The ice is firm: you move where you mean to."
	if slippery {
		ice = "4. The ice is slippery: you may move to the left or right of where you mean to."
	}
	return `You cross a frozen lake, tile by tile, from P to G.

What the map shows:
P you | _ ice | O hole | G goal

Rules:
1. You win, with reward 1, when you stand on G.
2. In a hole (O) the walk is over, with reward 0.
3. At the edge of the map you stay where you are.
` + ice + `

Your actions: Left | Down | Right | Up

Each message shows the map as it is now. Think, and end your answer with the next action, one alone, between two marks of three backticks: ` + "```Right```" + ` goes one tile to the right. Plan ahead: few steps are better than many.`
}

func publishedFrame(t turn) string {
	text := fmt.Sprintf("Current Observation (%d):\n%s\n", t.taken, t.view)
	if t.over {
		return text + "The walk is over."
	}
	text += "You have not reached G yet. What is your next action?"
	if t.unmoved {
		text += "\nYour last answer moved you nowhere: there was no valid action in it, or the edge was in the way. End your answer with one action between two marks of three backticks, such as ```Up```."
	}
	if t.left > 0 {
		text += fmt.Sprintf("\nSteps remaining: %d", t.left)
	}
	return text
}
