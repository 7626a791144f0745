// Package dataset keeps the records of runs as Parquet files, partitioned as Hive
// does it, so that any engine reads a directory of many runs:
//
//	trajectories/run=seed-7/day=2026-11-21/part-0000.parquet
//	trajectories/run=seed-8/day=2026-11-22/part-0000.parquet
//
// The columns of a file are those of its record type, except the record's own
// run: engines take run and day from the path, and some refuse a column that is
// in both. The Arrow schema stored in a file holds the record's name and version
// (millrace.schema, millrace.version).
//
// A file appears whole or not at all. One that is written again is replaced.
package dataset
