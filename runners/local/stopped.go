package local

import (
	"context"
	"errors"
	"fmt"

	"millrace/pipelines/train"
)

// stopped opens the topics of a run that is not under way and calls use with its
// configuration and brokers. The run directory is locked meanwhile; a run that is
// going on is an error that names its process.
func stopped(ctx context.Context, dir string, use func(c train.Config, brokers string) error) (err error) {
	o := TrainOptions{Dir: dir, Resume: true}
	config, err := resolve(o)
	if err != nil {
		return err
	}
	lock, err := claim(o)
	if err != nil {
		return fmt.Errorf("the run must not be going on: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	brokers, closeBroker, err := openBrokers(dir, config.Kafka)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeBroker()) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return use(config, brokers)
}
