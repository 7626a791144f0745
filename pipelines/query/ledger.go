package query

import "millrace/schemas"

var ledgerColumns = []column[schemas.Update]{
	integer("step", "number of the step, from 1: the policy version it made", func(u *schemas.Update) any { return u.Step }),
	integer("samples", "samples that entered it", func(u *schemas.Update) any { return int64(len(u.SampleIDs)) }),
	integer("dropped", "members of its groups that left as dead letters", func(u *schemas.Update) any { return int64(len(u.DroppedIDs)) }),
	integer("groups", "groups that it consumed", func(u *schemas.Update) any { return int64(len(u.GroupIDs)) }),
	text("sample_ids", "JSON list; unfold it with json_each(sample_ids)", func(u *schemas.Update) any { return list(u.SampleIDs) }),
	text("dropped_ids", "JSON list", func(u *schemas.Update) any { return list(u.DroppedIDs) }),
	text("group_ids", "JSON list", func(u *schemas.Update) any { return list(u.GroupIDs) }),
	text("positions", "the learner's positions behind the step: JSON list", func(u *schemas.Update) any { return list(u.Positions) }),
	text("config_hash", "identifies the resolved configuration", func(u *schemas.Update) any { return given(u.ConfigHash) }),
	text("code_version", "commit of the code; NULL where it is not known", func(u *schemas.Update) any { return given(u.CodeVersion) }),
	text("weights_digest", "SHA-256 of the weights file", func(u *schemas.Update) any { return given(u.WeightsDigest) }),
	text("started", "time in UTC", func(u *schemas.Update) any { return timestamp(u.Started) }),
	text("finished", "time in UTC", func(u *schemas.Update) any { return timestamp(u.Finished) }),
	number("seconds", "duration of the step", func(u *schemas.Update) any { return seconds(u.Started, u.Finished) }),
}
