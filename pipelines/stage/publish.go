package stage

import (
	"context"
	"fmt"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Announce writes that a policy version is published; engines on other machines
// load the checkpoint it names.
func Announce(ctx context.Context, s Stream, v schemas.PolicyVersion) error {
	o, err := output(s.Topics.Policy, v.Run, fmt.Sprintf("%s@%d", v.Run, v.Version), schemas.PolicyVersions, v)
	if err != nil {
		return err
	}
	if err := kafkaio.Produce(ctx, s.Brokers, o); err != nil {
		return fmt.Errorf("announcing policy version %d: %w", v.Version, err)
	}
	return nil
}

func updateID(u schemas.Update) string { return fmt.Sprintf("%s/%d", u.Run, u.Step) }
