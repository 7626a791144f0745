// Package frozenlake is the walk over a frozen lake that DeepSWE's report
// (figure 5) compares GRPO++ with GRPO on: from the start to the goal of a square
// map, round the holes.
//
// What always holds: maps, slips, observation grid and the published split are bit
// for bit those of rLLM's environment, which plays Gymnasium's FrozenLake on maps of
// its own (rllm-org/rllm, rllm/environments/frozenlake and agents/frozenlake_agent.py;
// facts and figures alone, the sentences are ours). testdata holds what these
// programs made.
//
//	map.go        a board from a seed
//	walk.go       moves, slips and the end of an episode
//	episode.go    the environment: parameters in, turns to answers
//	protocol.go   what the agent reads and how its turn is read
//	set.go        the task set: the published split and others by the same rule
package frozenlake
