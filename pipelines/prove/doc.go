// Package prove turns candidates for tasks into tasks by running their tests, as a
// bounded pipeline that can be killed at any moment and started again:
//
//	units ─ list ─► candidates ─ Reshuffle ─ decide (bounded pool) ─► decisions
//	                    └── rejected before any test runs ──────────────┘
//
// Where candidates come from, and what their tests are, is a [Work]'s matter:
// packages faults and history have one each.
//
// What must always be true:
//   - nothing vanishes (invariant 6): every candidate becomes one decision, which is a
//     task or a rejection with a typed reason, and a test adds them up;
//   - a decision counts only once it is on disk; what was decided is not decided again;
//   - no failure of the machine becomes a rejection (invariant 1): such a candidate is
//     tried again, and stays undecided for the next start when that does not help;
//   - a candidate is a task if and only if at least one test fails with it and passes
//     without, at least one passes both ways, and all ended within their limits;
//   - code of the module runs in a sandbox only.
package prove
