// Package taskset turns the rows of published datasets into tasks.
//
// What is always true:
//
//   - Each row ends as a task, as a bad row with its file, number and field, or as
//     one dropped for a reason; the counts add up (invariant 6).
//   - A task holds the dataset's own meaning: its test names, its rule, its image.
//     What a row does not say, and no table here knows, is an error of that row and
//     never a guess.
//   - What tells the agent the answer is out of its reach (invariant 4): tests lie
//     outside of the repository, under Task.Withheld, or come with Task.TestPatch
//     and Task.TestCommand, which only the scorer has; Task.Setup cuts the history of
//     the repository off behind its HEAD.
//   - Memory is bounded by one row, or for Parquet by a page a column, whatever the
//     size of a file; the ids of all rows are kept.
//
// One file holds a kind of dataset: r2e.go, swebench.go, swesmith.go, swerebench.go,
// native.go. The forms of files are lines.go (JSONL), objects.go (JSON) and
// columns.go (Parquet). docs/datasets.md says what each column becomes.
package taskset
