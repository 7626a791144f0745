// Package embedded runs pipelines inside this process: a Kafka-protocol broker
// with a data directory, and Beam's Prism runner, each shared by all jobs.
//
// The broker is kfake, which speaks the protocol to any client, keeps its log on
// disk and survives a kill of the process (not a power cut: batches are in the
// page cache when they are acknowledged, as with Kafka's own defaults). Any real
// Kafka takes its place by address.
//
// Prism keeps its state in memory and never retries: a job that fails is started
// again, and goes on from the positions committed to Kafka.
package embedded
