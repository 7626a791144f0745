// Package journal is the record a run leaves of itself in its directory:
//
//	metrics.jsonl       one line a step
//	evaluations.jsonl   one line an evaluation
//	tensorboard/        the same numbers as TensorBoard event files
//
// The JSON Lines files only grow. A line is on disk when the call that wrote it
// returns. What a kill leaves of a last line is cut off by the next [Open]; a
// step that a resumed run takes again has two lines, of which [Read] keeps the
// later. The ledger, not the journal, decides what was trained: the journal is
// for people and plots, and a line lost with a machine costs a point on a curve.
//
//	{"step":12,"time":1763685000000000,"metrics":{"actor/grad_norm":0.8,"reward/mean":null}}
//
// Times are Unix microseconds. A metric that is NaN or infinite is null, since
// JSON has no such numbers, and is read as NaN.
package journal
