package score

import (
	"context"
	"errors"

	"millrace/schemas"
	"millrace/transforms/swerl"
)

// AnswerSimilarity is SWE-RL's reward of what a model has answered to [swerl.Prompt]:
// -1 ([BadFormat]) if the answer cannot be read or its edits do not fit, by the rules of
// [swerl.Answer] and [swerl.Apply], and else the mean likeness of [Similarity] between
// the files that the edits leave and the gold ones. It is in {-1} and [0, 1]; an answer
// that changes nothing is worth 0, or 1 where the gold files change nothing either.
//
// The files are those of the task that the answer may edit; gold are all of them as they
// should become. What makes -1 of an answer is the error of swerl.Answer or swerl.Apply.
//
// Errors are the cause of ctx's end, and difflib.ErrTooMuch: no reward.
func AnswerSimilarity(ctx context.Context, files, gold []schemas.File, answer string) (float64, error) {
	edits, err := swerl.Answer(answer)
	var made []schemas.File
	if err == nil {
		made, err = swerl.Apply(files, edits)
	}
	switch {
	case errors.Is(err, swerl.ErrFormat):
		return BadFormat, nil
	case err != nil:
		return 0, err
	}
	return snapshotSimilarity(ctx, files, gold, made)
}
