package deadletter

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"millrace/schemas"
)

// Payload shows the record of a letter: as JSON where it is a sound frame of any
// record type, else as text, else as a hex dump with the reason.
func Payload(payload []byte) string {
	if len(payload) == 0 {
		return "(none: the record lies at the source)"
	}
	for _, decode := range []func([]byte) (any, error){
		func(b []byte) (any, error) { return schemas.Tasks.Decode(b) },
		func(b []byte) (any, error) { return schemas.Trajectories.Decode(b) },
		func(b []byte) (any, error) { return schemas.Rewards.Decode(b) },
		func(b []byte) (any, error) { return schemas.Samples.Decode(b) },
		func(b []byte) (any, error) { return schemas.Blobs.Decode(b) },
	} {
		rows, err := decode(payload)
		if err != nil {
			continue
		}
		text, err := json.MarshalIndent(rows, "", "  ")
		if err != nil { // a number that JSON has not
			return fmt.Sprintf("%+v", rows)
		}
		return string(text)
	}
	if utf8.Valid(payload) {
		return string(payload)
	}
	_, err := schemas.OpenFrame(payload)
	return fmt.Sprintf("%d bytes that are no record (%v):\n%s", len(payload), err, hex.Dump(payload))
}
