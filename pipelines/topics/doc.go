// Package topics looks at the topics of a run: what they hold, how they are kept,
// and how far each stage has read. It changes nothing.
package topics
