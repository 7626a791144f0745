package reprocess

import (
	"context"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/schemas"
)

// ParquetSource is the data set "trajectories" of one run.
//
// A row group is read by every lane that owns a group in it. A group is owned by the
// lane that owns the row group of its first row, and lanes own row groups one after
// the other; so where the rows of a group lie together, as an export writes them, only
// the row groups at the seams are read twice.
type ParquetSource struct {
	files  []dataset.File
	groups []rowGroup // of all files, in their order
	lanes  int
	// owner is the lane of a group, by the hash of its id. Two groups of one hash have
	// one owner, which is no harm.
	owner map[uint64]int
}

type rowGroup struct {
	file, number int
	rows         int
	lanes        map[int]bool // that own a group in it
}

// OpenParquet looks at the data set of a run in a directory of data sets, and reads
// the group of every row. It holds 16 bytes a group.
func OpenParquet(ctx context.Context, dir, run string, lanes int) (*ParquetSource, error) {
	files, err := Files(dir, export.Trajectories, run)
	if err != nil {
		return nil, err
	}
	s := &ParquetSource{files: files, owner: map[uint64]int{}}
	first := map[uint64]int{} // row group of the first row
	var members [][]uint64    // groups of each row group
	for i, f := range files {
		err := dataset.Texts(ctx, f, "trajectory.group_id", func(number int, id string) {
			if n := len(s.groups); n == 0 || s.groups[n-1].file != i || s.groups[n-1].number != number {
				s.groups = append(s.groups, rowGroup{file: i, number: number, lanes: map[int]bool{}})
				members = append(members, nil)
			}
			at := len(s.groups) - 1
			s.groups[at].rows++
			h := xxhash.Sum64String(id)
			if _, known := first[h]; !known {
				first[h] = at
			}
			if n := len(members[at]); n == 0 || members[at][n-1] != h {
				members[at] = append(members[at], h)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	s.lanes = max(1, min(lanes, len(s.groups)))
	laneOf := s.share()
	for h, at := range first {
		s.owner[h] = laneOf[at]
	}
	for at, hashes := range members {
		for _, h := range hashes {
			s.groups[at].lanes[s.owner[h]] = true
		}
	}
	return s, nil
}

// Files are the files of a run's table. None is an error: a misspelt name must not
// look like an empty run.
func Files(dir, table, run string) ([]dataset.File, error) {
	all, err := dataset.Find(dir, table)
	if err != nil {
		return nil, err
	}
	var files []dataset.File
	runs := map[string]bool{}
	for _, f := range all {
		runs[f.Run] = true
		if f.Run == run {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no %s of run %q, only of %d others", dir, table, run, len(runs))
	}
	return files, nil
}

// share gives each row group to a lane, so that the lanes have about the same number
// of rows.
func (s *ParquetSource) share() []int {
	total := 0
	for _, g := range s.groups {
		total += g.rows
	}
	laneOf, before := make([]int, len(s.groups)), 0
	for i, g := range s.groups {
		laneOf[i] = before * s.lanes / total
		before += g.rows
	}
	return laneOf
}

// Lanes implements [Source].
func (s *ParquetSource) Lanes() int { return s.lanes }

// Read implements [Source]. The source of a trajectory is the path of its file and the
// number of its row. A row that breaks its contract fails the reading: the file is not
// what was written.
func (s *ParquetSource) Read(ctx context.Context, lane int, visit Visitor) error {
	for i, f := range s.files {
		var numbers []int
		for _, g := range s.groups {
			if g.file == i && g.lanes[lane] {
				numbers = append(numbers, g.number)
			}
		}
		if len(numbers) == 0 {
			continue
		}
		err := dataset.ReadGroups(ctx, f, numbers, schemas.Rewards, func(row int64, r schemas.Reward) error {
			if s.owner[xxhash.Sum64String(r.Trajectory.GroupID)] != lane {
				return nil
			}
			return visit.Reward(r, schemas.Position{Topic: f.Path, Offset: row})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
