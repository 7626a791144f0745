// Package kafkatest starts real Apache Kafka brokers for tests: one process of
// the Java broker, controller and broker in one (KRaft), on free ports of the
// loopback interface, with its log in a temporary directory.
//
// "make kafka" fetches the brokers; the versions are the directories below
// testdata. A test on a machine without them, or without Java, is skipped with
// the reason, or fails with it where CI is true or MILLRACE_REQUIRE_ALL is set.
package kafkatest
