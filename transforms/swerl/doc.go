// Package swerl is the form in which SWE-RL (Wei et al. 2025, arXiv:2502.18449) asks a
// model for a repair and reads its answer: one prompt, one answer, no tools.
//
//	[Prompt]  statement and files  ->  the system's and the user's message
//	[Answer]  what was sampled     ->  edits
//	[Apply]   files and edits      ->  files
//	[Patch]   files and answer     ->  a unified diff
//
// What must always be true: an answer is read as the published reward reads it, down to
// its oddities, so that an answer is worth here what it is worth there; and whatever
// cannot be read is [ErrFormat] and nothing else. The markers are the published ones.
// The words around them are ours, because the published ones may not be used
// commercially; the meaning follows the prompt of Agentless (MIT).
package swerl
