package dataset

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
)

// NoDay is the day of records without a time, and of a table without rows. It is
// a date because engines take the type of a column of partitions from their names:
// pyarrow refuses a table whose days are all Hive's null.
const NoDay = "1970-01-01"

const dayLayout = "2006-01-02"

// Partition is what a path says of the rows of its file.
type Partition struct {
	Run string
	// Day is a date in UTC, "2026-11-21", [NoDay] where records have no time.
	Day string
}

// DayOf is the day, in UTC, of the first of some times in Unix microseconds that
// is one: later than 1970 began, as 0 is what a record says that knows no time, and
// before the year 10000. If none is, the day is [NoDay].
func DayOf(times ...int64) string {
	for _, micros := range times {
		if t := time.UnixMicro(micros).UTC(); micros > 0 && t.Year() <= 9999 {
			return t.Format(dayLayout)
		}
	}
	return NoDay
}

// Dir is the slash-separated path of the partition below the directory of a table.
func (p Partition) Dir() string { return path.Join(runDir(p.Run), "day="+p.Day) }

// Path is the path of its first file: most have no other.
func (p Partition) Path() string { return path.Join(p.Dir(), "part-0000.parquet") }

func runDir(run string) string { return "run=" + url.PathEscape(run) }

// ParsePath is the inverse of Path. It takes any name of the file itself, since
// others may add files to a partition.
func ParsePath(p string) (Partition, error) {
	refuse := func(problem string) (Partition, error) {
		return Partition{}, fmt.Errorf("path %q is not run=<run>/day=<day>/<file>: %s", p, problem)
	}
	parts := strings.Split(p, "/")
	if len(parts) != 3 || parts[2] == "" {
		return refuse(fmt.Sprintf("it has %d parts", len(parts)))
	}
	escaped, ok := strings.CutPrefix(parts[0], "run=")
	if !ok || escaped == "" {
		return refuse("it names no run")
	}
	run, err := url.PathUnescape(escaped)
	if err != nil {
		return refuse(err.Error())
	}
	day, ok := strings.CutPrefix(parts[1], "day=")
	if !ok {
		return refuse("it names no day")
	}
	if _, err := time.Parse(dayLayout, day); err != nil {
		return refuse(fmt.Sprintf("day %q is not a date", day))
	}
	return Partition{Run: run, Day: day}, nil
}
