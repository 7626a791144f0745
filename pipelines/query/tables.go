package query

import (
	"millrace/pipelines/export"
	"millrace/schemas"
)

// Tables are all tables.
var Tables = []Table{
	tableOf("trajectories", "one row a rollout that was scored, or lost", export.Trajectories, schemas.Rewards, itself[schemas.Reward], trajectoryColumns),
	tableOf("steps", "one row a turn of an agent", export.Trajectories, schemas.Rewards, turns, turnColumns),
	tableOf("samples", "one row a rollout as the learner was given it", export.Samples, schemas.Samples, itself[schemas.Sample], sampleColumns),
	tableOf("rollouts", "one row a rollout of a job that does not score", export.Rollouts, schemas.Trajectories, itself[schemas.Trajectory], unscoredColumns),
	tableOf("filtered", "one row a trajectory of a job that ends with the filter", export.Filtered, schemas.Members, itself[schemas.Member], filteredColumns),
	tableOf("ledger", "one row an optimizer step", export.Ledger, schemas.Updates, itself[schemas.Update], ledgerColumns),
	tableOf("dead_letters", "one row a record that could not be processed", export.DeadLetters, schemas.DeadLetters, itself[schemas.DeadLetter], letterColumns),
	tableOf("metrics", "one row a metric and step; evaluations are val/<set>/...", export.Metrics, schemas.Measurements, itself[schemas.Measurement], metricColumns),
}
