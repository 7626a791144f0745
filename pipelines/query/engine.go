package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"millrace/pipelines/dataset"
	"millrace/pipelines/query/statement"
)

// limitAttached is SQLITE_LIMIT_ATTACHED. At 0 a statement can neither attach a
// file nor write one by VACUUM INTO.
const limitAttached = 7

// cacheKiB is the page cache of the temporary database, in KiB.
const cacheKiB = 64 << 10

// Sink takes an answer: its columns, then its rows. Values are nil, int64,
// float64, string or []byte, and are the sink's to keep.
type Sink interface {
	Head(columns []string) error
	Row(values []any) error
}

// Run answers a query over the runs in dirs, each a run directory or a directory
// of run directories. An error of the query says what there is instead; a table
// without data is an error that says where it was looked for.
func Run(ctx context.Context, dirs []string, query string, sink Sink) (err error) {
	query, err = statement.Single(query)
	if err != nil {
		return err
	}
	// An empty name is a temporary database of this connection, which the engine
	// keeps in its cache and spills to a file that nobody else can open.
	db, err := sql.Open("sqlite", "file:?_dqs=0")
	if err != nil {
		return fmt.Errorf("opening the query engine: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("opening the query engine: %w", err)
	}
	defer c.Close()
	if err := prepare(ctx, c); err != nil {
		return fmt.Errorf("preparing the query engine: %w", err)
	}
	tables, err := plan(ctx, c, query)
	if err != nil {
		return explained(err, query)
	}
	for _, t := range tables {
		if err := load(ctx, c, t, dirs); err != nil {
			return err
		}
	}
	if _, err := c.ExecContext(ctx, "PRAGMA query_only = ON"); err != nil {
		return fmt.Errorf("locking the tables: %w", err)
	}
	return explained(each(ctx, c, query, sink.Head, sink.Row), query)
}

// prepare makes the tables, empty.
func prepare(ctx context.Context, c *sql.Conn) error {
	if _, err := sqlite.Limit(c, limitAttached, 0); err != nil {
		return err
	}
	// What a crash leaves of a temporary database is nobody's loss.
	statements := []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", fmt.Sprintf("PRAGMA cache_size = -%d", cacheKiB)}
	for _, t := range Tables {
		var columns []string
		for _, column := range t.Columns {
			columns = append(columns, fmt.Sprintf("%q %s", column.Name, column.Type))
		}
		statements = append(statements, fmt.Sprintf("CREATE TABLE %q (%s)", t.Name, strings.Join(columns, ", ")))
	}
	for _, s := range statements {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// plan says which tables a query reads: those whose root page its program opens.
func plan(ctx context.Context, c *sql.Conn, query string) ([]Table, error) {
	opened := map[int64]bool{}
	var opcode, page int
	err := each(ctx, c, "EXPLAIN "+query, func(columns []string) error {
		opcode, page = slices.Index(columns, "opcode"), slices.Index(columns, "p2")
		return nil
	}, func(row []any) error {
		if row[opcode] == "OpenRead" {
			opened[row[page].(int64)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var tables []Table
	noHead := func([]string) error { return nil }
	err = each(ctx, c, "SELECT name, rootpage FROM sqlite_schema", noHead, func(row []any) error {
		i := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == row[0] })
		if i >= 0 && opened[row[1].(int64)] {
			tables = append(tables, Tables[i])
		}
		return nil
	})
	return tables, err
}

// each visits the columns of a statement's answer and then its rows, which may be
// kept.
func each(ctx context.Context, c *sql.Conn, statement string, head func(columns []string) error, visit func(row []any) error) error {
	rows, err := c.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := head(columns); err != nil {
		return err
	}
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// load fills a table with the rows of all runs.
func load(ctx context.Context, c *sql.Conn, t Table, dirs []string) error {
	files, err := find(t, dirs)
	if err != nil {
		return err
	}
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("loading %s: %w", t.Name, err)
	}
	defer tx.Rollback()
	places := strings.TrimSuffix(strings.Repeat("?,", len(t.Columns)), ",")
	insert, err := tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %q VALUES (%s)", t.Name, places))
	if err != nil {
		return fmt.Errorf("loading %s: %w", t.Name, err)
	}
	defer insert.Close()
	for _, f := range files {
		err := t.rows(ctx, f, func(values []any) error {
			_, err := insert.ExecContext(ctx, values...)
			return err
		})
		if err != nil {
			return fmt.Errorf("loading %s: %w", t.Name, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("loading %s: %w", t.Name, err)
	}
	return nil
}

// find lists the files that a table is made of, each once.
func find(t Table, dirs []string) ([]dataset.File, error) {
	var files []dataset.File
	seen := map[string]bool{}
	var looked []string
	for _, dir := range dirs {
		data, err := dataset.DataDirs(dir)
		if err != nil {
			return nil, err
		}
		if len(data) == 0 {
			looked = append(looked, filepath.Join(dir, "data", t.source), filepath.Join(dir, "*", "data", t.source))
		}
		for _, d := range data {
			looked = append(looked, filepath.Join(d, t.source))
			found, err := dataset.Find(d, t.source)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				path, err := filepath.EvalSymlinks(f.Path)
				if err != nil {
					return nil, fmt.Errorf("looking for %s: %w", t.source, err)
				}
				if !seen[path] {
					seen[path] = true
					files = append(files, f)
				}
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no data for table %s: looked for run=*/day=*/*.parquet in %s; a run writes it when it ends, and millrace report RUNDIR makes it of one that was stopped",
			t.Name, strings.Join(looked, " and "))
	}
	return files, nil
}
