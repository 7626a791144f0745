package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// FollowPolicy hands the announced policy versions of a run over to an engine in
// this process, first the newest there is, then each that follows, until ctx ends:
// it loads the checkpoint that an announcement names, which must be on storage that
// both processes see, and calls publish, such as that of a [kernels.Generator]. It
// returns the cause of ctx's end or what failed.
//
// A checkpoint that is gone has been replaced by a newer one, whose announcement
// follows; it is passed over with a warning, as is a record that is none.
func FollowPolicy(ctx context.Context, s Stream, run string, publish func(version int64, weights []kernels.Tensor) error) error {
	newest := schemas.PolicyVersion{Version: -1}
	err := scanPolicy(ctx, s, run, &kafkaio.Latest, func(v schemas.PolicyVersion) error {
		if v.Version > newest.Version {
			newest = v
		}
		return nil
	})
	if err != nil {
		return err
	}
	known := int64(-1)
	handOver := func(v schemas.PolicyVersion) error {
		if v.Version <= known || v.Version < newest.Version {
			return nil // a learner that resumes announces its version again
		}
		_, weights, err := checkpoint.Load(v.Checkpoint)
		if errors.Is(err, fs.ErrNotExist) {
			slog.Warn(fmt.Sprintf("policy version %d of run %s is gone from %s: waiting for a newer one", v.Version, run, v.Checkpoint))
			return nil
		}
		if err != nil {
			return fmt.Errorf("loading policy version %d: %w", v.Version, err)
		}
		if err := publish(v.Version, weights); err != nil {
			return fmt.Errorf("publishing policy version %d: %w", v.Version, err)
		}
		known = v.Version
		return nil
	}
	return scanPolicy(ctx, s, run, nil, handOver)
}

// scanPolicy visits the announcements of a run.
func scanPolicy(ctx context.Context, s Stream, run string, to *kafkaio.Position, visit func(schemas.PolicyVersion) error) error {
	return kafkaio.Scan(ctx, s.Brokers, s.Topics.Policy, to, func(r kafkaio.Record) error {
		versions, err := schemas.PolicyVersions.Decode(r.Value)
		if err != nil {
			slog.Warn(fmt.Sprintf("%s[%d]@%d announces no policy version: %v", r.Source.Topic, r.Source.Partition, r.Source.Offset, err))
			return nil
		}
		for _, v := range versions {
			if v.Run != run {
				continue
			}
			if err := visit(v); err != nil {
				return err
			}
		}
		return nil
	})
}
