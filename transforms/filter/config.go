package filter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The modes.
const (
	// Compact masks trajectories that used up the policy's own budget (context,
	// steps): no token of them is trained, and they count with reward 0. Those cut
	// off by a clock (time, the time of one action) are left out of baseline and
	// denominator as well: how fast a machine is must not become a reward.
	Compact = "compact"
	// CompactPublished is DeepSWE's: context, steps and time are masked and count
	// with reward 0; the time of one action is not masked.
	CompactPublished = "compact-published"
	// None trains on everything that has a reward.
	None = "none"
)

// Config are the settings of the stage.
type Config struct {
	// Mode is Compact, CompactPublished or None.
	Mode string
}

// Validate reports an unknown mode.
func (c Config) Validate() error {
	if _, ok := modes[c.Mode]; !ok {
		return fmt.Errorf("filter: unknown mode %q, want one of %s", c.Mode, strings.Join(Modes(), ", "))
	}
	return nil
}

// Modes are the names of the modes, sorted.
func Modes() []string { return slices.Sorted(maps.Keys(modes)) }
