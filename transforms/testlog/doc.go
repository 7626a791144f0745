// Package testlog reads what test commands print and turns the verdicts into a
// reward. It is plain Go: no Beam, no sandbox, no clock.
//
// What must always be true:
//   - A verdict stands in the log. A log cut anywhere, invalid UTF-8, colours,
//     carriage returns and lines of megabytes lose verdicts and add none; what is
//     not seen to pass has not passed, but where a rule says otherwise.
//   - The same log, format and task give the same reward (invariant 5).
//   - Memory is a small multiple of the log: at most [maxVerdicts] verdicts, names
//     of at most [maxName] bytes.
//
// [Parse] knows formats by the names in schemas.Task.TestFormat, and [Judge] knows
// rules by the names in schemas.Task.Rule. [FormatOf] translates the parser names
// that stand in rows of SWE-bench v5, SWE-bench Multilingual and SWE-rebench V2, and
// [FormatOfRepo] knows which format a repository of SWE-bench has.
//
// # Names that collide
//
// The parsers of SWE-bench, R2E-Gym and SWE-smith map a name to a status, and the
// last line wins. R2E-Gym drops the file of a test, go test names no package, jest
// prints a test without the suites around it, sympy without its file, and pytest's
// parameters are cut at their first space. Two tests then share a name, and the one
// that passes can hide the one that fails.
//
// Here a verdict has two names: Test, which is exactly the dataset's own, and Name,
// which also tells where the test stands. An expectation may use either. A name that
// several verdicts go by has passed only when all of them that ran have: a test that
// was skipped says nothing of another with its name. A test that is reported twice
// has the worse status. No name is made that the originals would not make, so that
// rules which count names agree with the datasets; the one exception is sympy's last
// test of a file, which the original overlooks.
//
// Options.Compat does as the originals do, for a number that is to be compared with
// a published one: one verdict a name, the last line wins, colours are taken off
// only where the original does. On the 278 recorded logs of SWE-bench Verified
// evaluations that the tests read, it gives SWE-bench 4.1.0's status of every name;
// and both ways give the official verdict, but for four logs of astropy's whose
// verdict came from a defect that SWE-bench has mended since: the format
// pytest-v2-3.0.2 has it still.
//
// # What is not read
//
// The originals differ by version. Formats are SWE-bench v4's, with what v5 mended
// where it changes no name: the summary line "SKIPPED [1] file:line" is no test, and
// results that maven and gradle print late find their tests. SWE-rebench V2 names 76
// parsers, many for one repository each; [FormatOf] refuses those that are missing
// here, with a list of those that are not.
package testlog
