package query

import (
	"strings"

	"millrace/schemas"
)

var letterColumns = []column[schemas.DeadLetter]{
	text("id", "the letter's id", func(d *schemas.DeadLetter) any { return d.ID }),
	text("stage", "the stage that gave up", func(d *schemas.DeadLetter) any { return d.Stage }),
	text("reason", "its type: corrupt, sandbox_failure, stale, ...", func(d *schemas.DeadLetter) any { return string(d.Reason) }),
	text("message", "the error in words", func(d *schemas.DeadLetter) any { return given(d.Message) }),
	text("record_id", "id of the record; NULL where it could not be decoded", func(d *schemas.DeadLetter) any { return given(d.RecordID) }),
	text("key", "the record's key", func(d *schemas.DeadLetter) any { return given(strings.ToValidUTF8(string(d.Key), "\uFFFD")) }),
	integer("payload_bytes", "size of the record; millrace deadletter show has it whole", func(d *schemas.DeadLetter) any { return int64(len(d.Payload)) }),
	text("topic", "topic that the record was read from", func(d *schemas.DeadLetter) any { return given(d.Source.Topic) }),
	integer("partition", "its partition", func(d *schemas.DeadLetter) any { return int64(d.Source.Partition) }),
	integer("offset", "its offset", func(d *schemas.DeadLetter) any { return d.Source.Offset }),
	integer("attempts", "how often it was tried", func(d *schemas.DeadLetter) any { return int64(d.Attempts) }),
	text("time", "time in UTC; NULL where the stage told none", func(d *schemas.DeadLetter) any { return timestamp(d.Time) }),
}
