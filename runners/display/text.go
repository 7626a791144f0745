package display

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// clean makes any text one harmless line: white space becomes spaces, control
// and format characters (escape sequences, changes of direction) go.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// pad fills text with spaces to a width, or cuts it.
func pad(text string, columns int) string {
	return runewidth.FillRight(runewidth.Truncate(text, columns, ""), columns)
}

// number formats v with three significant digits: 0.412, 3.1, 512, 3.14k.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case a >= 999.5e6:
		return fmt.Sprintf("%.3gG", v/1e9)
	case a >= 999.5e3:
		return fmt.Sprintf("%.3gM", v/1e6)
	case a >= 999.5:
		return fmt.Sprintf("%.3gk", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}

// percent formats a share of one.
func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*v)
}

// span formats a duration: 7s, 4m05s, 2h03m.
func span(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 0:
		return "0s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}

// bar draws a share of one in the given number of columns.
func bar(share float64, columns int) string {
	full := int(math.Round(min(max(share, 0), 1) * float64(columns)))
	return strings.Repeat("━", full) + strings.Repeat("╌", columns-full)
}
