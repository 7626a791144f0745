// Package flink runs pipelines on an Apache Flink cluster: it submits them
// through Beam's job server, is the worker process that the cluster's task
// managers start, and brings up a cluster for development.
//
//	millrace ── job API ──► job server ── REST ──► JobManager
//	                                                   │
//	                            TaskManager ◄──────────┤   JVM: shuffles, timers, keyed state
//	                              │ Fn API             └──► TaskManager ...
//	                            millrace (worker)          our code: reads and writes Kafka
//
// # What a killed process costs
//
// Jobs run without Flink's checkpoints. A position is committed to Kafka behind
// durable outputs and nowhere else, so a job that Flink restarts begins with
// empty state and reads again what was not committed: a killed task manager or
// worker costs no record, and what its successor makes a second time has the
// ids of the first and falls out downstream.
//
// # What it does not do
//
// Drain: Flink has no such request for portable jobs, so a job ends by itself,
// when its input is bounded, or is cancelled. Savepoints: there is no state in
// the cluster worth one.
package flink
