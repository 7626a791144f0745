package schemas

// DeadLetter is a record that could not be processed, with a typed reason, kept
// for re-drive.
type DeadLetter struct {
	// ID identifies the letter: stage and record.
	ID string
	// Stage is the stage that gave up: "rollout", "score", "filter",
	// "advantage", "learn".
	Stage  string
	Reason Reason
	// Message is the error in words; it names record, file, row or field.
	Message string
	// RecordID is the id of the record, empty if it could not be decoded.
	RecordID string
	// Key and Payload are the Kafka key and value as received.
	Key, Payload []byte
	// Source is where the record was read.
	Source Position
	// Attempts is how often it was tried.
	Attempts int32
	// Time is the Unix time in microseconds.
	Time int64
}

// Reason is the type of a dead letter.
type Reason string

// The reasons.
const (
	Corrupt        Reason = "corrupt"         // the frame or its content could not be decoded
	Invalid        Reason = "invalid"         // decoded, but a field breaks its contract
	BlobLost       Reason = "blob_lost"       // the value lies in a blob that is missing or another
	SandboxFailure Reason = "sandbox_failure" // the sandbox could not be made or died
	PolicyFailure  Reason = "policy_failure"  // the policy did not answer
	ScoringFailure Reason = "scoring_failure" // the tests could not be run
	Stale          Reason = "stale"           // older than max_staleness when consumed
	Duplicate      Reason = "duplicate"       // a different record under an id already seen
	Late           Reason = "late"            // arrived after its group was closed
	NotFinite      Reason = "not_finite"      // NaN or infinity where a number is needed
	PromptTooLong  Reason = "prompt_too_long" // the first prompt alone exceeds the context
)

// DeadLetters is the codec of DeadLetter.
var DeadLetters = newCodec("dead_letter", deadLetterColumns)

var deadLetterColumns = []column[DeadLetter]{
	text("id", func(d *DeadLetter) *string { return &d.ID }),
	text("stage", func(d *DeadLetter) *string { return &d.Stage }),
	text("reason", func(d *DeadLetter) *Reason { return &d.Reason }),
	text("message", func(d *DeadLetter) *string { return &d.Message }),
	text("record_id", func(d *DeadLetter) *string { return &d.RecordID }),
	blob("key", func(d *DeadLetter) *[]byte { return &d.Key }),
	blob("payload", func(d *DeadLetter) *[]byte { return &d.Payload }),
	nested("source", func(d *DeadLetter) *Position { return &d.Source }, positionColumns),
	i32("attempts", func(d *DeadLetter) *int32 { return &d.Attempts }),
	i64("time_us", func(d *DeadLetter) *int64 { return &d.Time }),
}

// Validate checks the contract: an id, a stage, a known reason and counts of at
// least 0. Key and payload may be anything: they are why the letter is dead.
func (d DeadLetter) Validate() error {
	c := &contract{schema: "dead_letter", id: d.ID}
	c.name("ID", d.ID)
	c.name("Stage", d.Stage)
	switch d.Reason {
	case Corrupt, Invalid, BlobLost, SandboxFailure, PolicyFailure, ScoringFailure, Stale, Duplicate, Late, NotFinite, PromptTooLong:
	default:
		c.fail(Invalid, "Reason", "is %q, not a dead letter reason", d.Reason)
	}
	c.notNegative("Source.Partition", int64(d.Source.Partition))
	c.notNegative("Source.Offset", d.Source.Offset)
	c.notNegative("Attempts", int64(d.Attempts))
	return c.err()
}
