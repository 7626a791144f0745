package sandbox

import "strings"

// Quote makes one word of a POSIX shell of any text without a NUL byte.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
