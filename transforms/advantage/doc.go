// Package advantage turns rewards into advantages: it assembles the members of
// a group, estimates, and sends the whole group on as samples.
//
// What enters: a PCollection<[schemas.Member]>, marked by the filter. What
// leaves: a PCollection<[Closed]>: for each group, once, the samples of all
// members that arrived; and by itself each record that could not join a group,
// as a dead letter, or that had already been delivered.
//
// # Formulas
//
// r are the rewards of the n members of a group that count (Member.Counts).
//
//	leave-one-out               A_i = r_i - mean of r_j, j != i  = n/(n-1)·(r_i - mean r)
//	                            RLOO (Ahmadian et al. 2024, arXiv:2402.14740), LOOP (arXiv:2502.01600)
//	leave-one-out-published     the same; a single member has baseline 0 (DeepSWE, verl's rloo)
//	leave-one-out-standardized  A_i = n/(n-1)·(r_i - mean r)/(s + 1e-6), for ablations
//	centered                    A_i = r_i - mean r
//	                            Dr. GRPO (Liu et al. 2025, arXiv:2503.20783)
//	standardized                A_i = (r_i - mean r)/(s + 1e-6), s² = Σ(r_i - mean r)²/(n-1)
//	                            GRPO (Shao et al. 2024, arXiv:2402.03300), with verl's n-1 and 1e-6
//
// With [Config.Overlong], r_i is the reward plus DAPO's penalty of the response's
// length.
//
// # Degenerate groups
//
//	one member counts           0 for leave-one-out, leave-one-out-standardized and centered;
//	                            r for leave-one-out-published;
//	                            r/(1+1e-6) for standardized (verl takes mean 0 and deviation 1)
//	all rewards equal, n > 1    exactly 0, though (.1+.1+.1)/3 is not .1 in float64
//	all rewards equal, n >= 1,  all samples leave with weight 0, excluded as equal_rewards,
//	  under ExcludeEqual        whatever lengths are punished
//	no member counts            all samples leave with weight 0
//	members missing when the    estimated over those present; the sample tells GroupMembers
//	  time limit passes         and GroupSize
//	reward not finite           the member leaves with weight 0, is out of the baseline, and a
//	                            dead letter names it
//	an advantage not finite     all members leave with weight 0, each with a dead letter: finite
//	                            rewards whose sum, or whose advantage, passes 1.8e308
//
// # Determinism
//
// Members are sorted by rollout index and summed in that order in float64, so
// the order of arrival never shows (invariant 5). Which members a group has when
// its time limit passes does depend on time; a bounded run closes such groups at
// the end of its input, and then the same log gives the same groups.
//
// # Restart
//
// A group's state is in the runner's memory. A record's position must be
// committed only when a Closed that lists it in Sources has been written, so a
// crash reads open groups again. It may also read again the upper part of a
// group that was closed and written before; that part closes short after the
// time limit, with sample ids that are already in the log behind it, and the
// learner drops them.
package advantage
