package display

import (
	"strconv"
	"strings"
)

// screen is a terminal that knows what the display uses: text, newline, carriage
// return, cursor up, and clearing below. It has no scroll back: what leaves it
// at the top stays in text, but out of the cursor's reach.
type screen struct {
	columns, rows int
	lines         [][]rune
	row, column   int
	// wrapped counts lines broken by the terminal; writes the calls of Write.
	wrapped, writes int
	beforeLastErase string
}

func newScreen(columns, rows int) *screen {
	return &screen{columns: columns, rows: rows, lines: [][]rune{nil}}
}

func (s *screen) Write(p []byte) (int, error) {
	s.writes++
	text := string(p)
	for text != "" {
		if seq, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(seq, func(r rune) bool { return r < '0' || r > '9' })
			n, _ := strconv.Atoi(seq[:end])
			switch seq[end] {
			case 'A':
				s.row = max(s.row-n, len(s.lines)-s.rows, 0)
			case 'J':
				s.beforeLastErase = s.text()
				s.lines = s.lines[:s.row+1]
				s.lines[s.row] = s.lines[s.row][:s.column]
			default:
				panic("unknown sequence " + seq[:end+1])
			}
			text = seq[end+1:]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\n':
			s.down()
		case '\r':
			s.column = 0
		default:
			if s.column == s.columns {
				s.wrapped++
				s.down()
			}
			s.lines[s.row] = append(s.lines[s.row][:s.column], r)
			s.column++
		}
	}
	return len(p), nil
}

func (s *screen) down() {
	s.row, s.column = s.row+1, 0
	if s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

// resize breaks lines again, as terminals do. The cursor stands in the last
// line.
func (s *screen) resize(columns int) {
	var lines [][]rune
	for _, l := range s.lines {
		for len(l) > columns {
			lines = append(lines, l[:columns:columns])
			l = l[columns:]
		}
		lines = append(lines, l)
	}
	s.columns, s.lines, s.row = columns, lines, len(lines)-1
}

func (s *screen) text() string {
	var b strings.Builder
	for i, l := range s.lines {
		if i < len(s.lines)-1 || len(l) > 0 {
			b.WriteString(string(l) + "\n")
		}
	}
	return b.String()
}
