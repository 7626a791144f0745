package rollout

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// seed derives a rollout's random seed from the run's. It leaves the attempt
// out: a rollout that is run again after a failure samples what it would have
// sampled the first time.
func seed(run uint64, groupID string, rollout int32) uint64 {
	h := xxhash.New()
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], run)
	binary.LittleEndian.PutUint32(b[8:], uint32(rollout))
	h.Write(b[:])
	h.WriteString(groupID)
	return h.Sum64()
}
