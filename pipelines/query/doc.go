// Package query answers SQL over the data sets of one or several runs.
//
// The engine is SQLite. It plans the query over empty tables first, which says
// what the query reads; only those tables are loaded, from Parquet into a private
// temporary database on disk that goes when the answer is given. So memory is
// bounded by a row group and the engine's page cache, whatever the size of the
// runs, and no query can change a data set.
package query
