// Package jobserver is a client of Beam's job service, which Prism and the job
// server of a Flink cluster both offer: it hands a pipeline over and follows the
// job to its end. Beam's own client keeps its settings in flags of the process,
// waits for the job, and sends only some of a runner's options.
package jobserver
