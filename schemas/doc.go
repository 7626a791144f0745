// Package schemas holds the records that travel between stages: one Go row type,
// one Arrow schema with name and version, and one codec each.
//
// A row's contract is stated on its type and checked by its Validate method, on
// the way out as on the way in, so that a stage never meets a row that breaks
// it. Bytes become rows only through [Codec.Decode], which survives any input.
//
// The package knows nothing of Beam graphs, Kafka or models; it registers Beam
// coders for its types.
package schemas
