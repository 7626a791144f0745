package statement

import "testing"

// FuzzSingle: what is let through is one statement that begins as a query, and is
// let through again as it is.
func FuzzSingle(f *testing.F) {
	for _, q := range []string{"SELECT 1;", "select ';' -- ;\n", "/* ; */ WITH x AS (VALUES (1)) SELECT * FROM x ; ;", "SELECT [a;b] FROM `t;`", "SELECT 'it''s'; --", "SELECT \"", "VALUES(1);DROP TABLE x"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := Single(text)
		if err != nil {
			return
		}
		again, err := Single(one)
		if err != nil || again != one {
			t.Errorf("%q became %q and then %q, %v", text, one, again, err)
		}
		rest := one
		for rest != "" {
			if n := skip(rest); n > 0 {
				rest = rest[n:]
				continue
			}
			if rest[0] == ';' {
				t.Fatalf("%q has a second statement", one)
			}
			rest = rest[1:]
		}
	})
}
