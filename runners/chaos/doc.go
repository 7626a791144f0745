// Package chaos proves that a run survives faults: it runs the stages of a run as
// processes of their own, kills and disturbs them by a schedule that is a function
// of a seed, and then counts.
//
// What runs is the product: broker and runner of runners/embedded, the pipelines
// of pipelines/stage, rollout worker, scorer with its cache file, advantage, and
// the learner with the CPU trainer and its store. What stands in for the rest is
// small, so that thousands of records are cheap: the policy plays a script that
// depends on the weights handed over to it, sandboxes are maps in memory, and the
// model has a few thousand parameters.
//
//	feeder ─ rollout ─ score ─ advantage ─ learn     processes, killed and kept running
//	   └───────┴────────┴─────────┴─────────┘
//	          a proxy for each                       this process: resets, and kills at exact
//	                 broker                          points of the protocol
//
// When all faults of the schedule have happened and all that was ordered is a
// step, the auditor asks four things:
//
//   - does every stage balance, with nothing pending (pipelines/ledger);
//   - is each sample in exactly one step;
//   - does a fresh learner that reads the samples topic take the same steps to the
//     same weights;
//   - does a campaign without faults?
package chaos
