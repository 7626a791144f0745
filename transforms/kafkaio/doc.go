// Package kafkaio moves records between Kafka topics and Beam pipelines, with
// kafka-go underneath and nothing of it in the exported surface.
//
// # What it promises
//
//   - At least once. An offset is committed only when every output made from
//     the record at that offset, and from all records before it in its
//     partition, has been acknowledged by all in-sync replicas. A crash re-runs
//     what was not committed; whoever consumes the outputs drops duplicates by
//     id (header "id"), which is a function of what was ordered.
//   - Order. Records of one partition are delivered in offset order. Outputs
//     that one Work call emits to one partition are written in the order
//     emitted, unless the broker fails in between and a retry reorders them.
//   - A position is the next offset to read, everywhere. The one exception is
//     [Record].Source, which is the record's own offset and says so.
//   - Every call to a broker has a deadline. A broker that vanishes is retried
//     for [RetryFor] and then fails the job with one line that names it. One that
//     refuses user, certificate or protocol fails it at once.
//   - A pipeline names brokers and holds no secret: [Connect] tells the process
//     how they are reached.
//
// # What it does not do
//
//   - Transactions. kafka-go shows aborted records and hides control records;
//     do not point this package at a topic written by transactional producers.
//   - Group membership. Offsets are committed to a consumer group without
//     joining it; two jobs that commit to one group overwrite each other.
//   - Exactly once, or idempotent producing.
//   - Growing partition counts: the partitions of a topic are listed when a job
//     starts. A job that follows a topic which grows fails within seconds and says
//     so; started again, it reads all partitions.
//
// # Shapes
//
// [Read] turns a topic into a PCollection<Record>, bounded or unbounded.
// [Write] turns a PCollection<Result> into a PCollection<Ack>. [ReadTracked] and
// [Commit] belong together: one says what was read, the other commits behind the
// acks. [Async] is all of them around a function that may take minutes: it reads
// ahead, runs the function on a bounded pool, writes outputs as they are emitted,
// and lets only the committed position wait for stragglers.
//
// Clients, pools and positions belong to the process, keyed by job name, since
// Beam never calls Teardown: whoever runs a job calls [Stop] when it has ended.
package kafkaio
