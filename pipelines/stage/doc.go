// Package stage wires the transforms to topics: one Beam pipeline for each
// stage, so that each has its own bundle slots, failure domain and machines.
//
//	tasks ─ Rollout ─► trajectories ─ Score ─► rewarded ─ Advantage ─► samples ─ Learn ─► ledger
//	            └───────────────┴────────────────┴────────────────────────┴──► dead letters
//
// A stage reads frames, calls a transform's plain logic, and writes frames;
// whatever cannot be decoded becomes a dead letter with the bytes as they came
// (invariant 6: nothing vanishes).
package stage
