package chaos

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Config are the settings of a campaign.
type Config struct {
	// Dir is where everything is kept; it must not hold a campaign.
	Dir string
	// Seed decides the schedule, the tasks and the weights at the beginning.
	Seed uint64
	// Kills is the number of kills; other faults come beside them.
	Kills int
	// Only is the one role that is killed, each time when it has recovered, while no
	// other fault happens: what its recovery takes. Empty has all kinds of faults.
	Only string
	// Brokers is a Kafka to use in place of the embedded broker, which then is left
	// alone; it must not hold topics of a campaign. The run without faults that the
	// weights are compared with has an embedded one.
	Brokers string
	// Out is told what happens, line by line.
	Out io.Writer
}

// validate reports what no campaign can do.
func (c Config) validate() error {
	if c.Kills < 1 {
		return fmt.Errorf("a campaign of %d kills: at least 1 is needed", c.Kills)
	}
	if c.Only != "" && !slices.Contains(roles, c.Only) {
		return fmt.Errorf("there is no role %q: the roles are %s", c.Only, strings.Join(roles, ", "))
	}
	if c.Only == brokerRole && c.Brokers != "" {
		return fmt.Errorf("the broker at %s is not the campaign's to kill", c.Brokers)
	}
	return nil
}
