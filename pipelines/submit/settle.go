package submit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/pipelines/stage"
)

// everyMember is longer than any job settles: its groups are closed by their
// last member or by the end of the input, and are remembered as long.
const everyMember = 365 * 24 * time.Hour

// settle runs filter and advantage over what the stages before have left. Groups
// that lack members leave with those they have, since no more will come, unless
// the job was drained: then they wait for it to be resumed.
func (j *job) settle(ctx context.Context, drained bool) error {
	if !j.has(Filter) && !j.has(Advantage) {
		return nil
	}
	filtering, grouping := j.training.Selection()
	grouping.CloseAfter, grouping.RememberFor = everyMember, everyMember
	grouping.CloseAtEnd = !drained
	var p *beam.Pipeline
	name := j.last()
	s := j.stageStream(name)
	switch {
	case !j.has(Advantage):
		p = stage.BoundedFilter(s, filtering)
	case j.has(Filter):
		p = stage.BoundedAdvantage(s, &filtering, grouping)
	default:
		p = stage.BoundedAdvantage(s, nil, grouping)
	}
	j.Observer.Phase(name, 0)
	running, err := j.runner()(ctx, s.Job, p)
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	select {
	case <-running.Done():
		return running.Wait()
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), running.Cancel())
	}
}
