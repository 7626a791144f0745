package learn

import (
	"context"
	"fmt"

	"millrace/schemas"
)

// Consume takes one record of the samples topic; source.Offset is its own
// offset. It runs every step whose batch is complete with it: the update is
// committed and published when Consume returns, and told in the result.
//
// Nothing vanishes (invariant 6): a row is held for its group, entered a step,
// was there before, or left as a dead letter. Dead letters of a record that is
// consumed again have the same ids.
//
// An error is one of the machine (a full disk, a cancelled context, an engine
// that does not take the weights), never of the record. After it the learner is
// done for: every call returns the error, and a new one resumes from the
// checkpoint.
func (l *Learner) Consume(ctx context.Context, key, value []byte, source schemas.Position) (updates []schemas.Update, letters []schemas.DeadLetter, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return nil, nil, l.broken
	}
	updates, letters = l.takePending()
	l.offsets.read(source)
	fresh := l.take(key, value, source)
	for {
		batch, ok := l.batcher.Next()
		if !ok {
			break
		}
		fresh = append(fresh, l.leave(batch.Dropped)...)
		fresh = append(fresh, l.leave(batch.Expired)...)
		for _, source := range batch.sources {
			l.offsets.release(source)
		}
		l.counts.Held -= int64(len(batch.Samples) + len(batch.Dropped) + len(batch.Expired))
		l.counts.Consumed += int64(len(batch.Samples))
		l.dead.add(l.ledger.Step(), fresh)
		letters = append(letters, fresh...)
		fresh = nil
		update, err := l.update(ctx, batch)
		if err != nil {
			l.broken = fmt.Errorf("learner stopped in step %d: %w", batch.Version+1, err)
			return nil, nil, l.broken
		}
		updates = append(updates, update)
	}
	l.dead.add(l.ledger.Step(), fresh)
	return updates, append(letters, fresh...), nil
}

// take gives the rows of a record to the batcher.
func (l *Learner) take(key, value []byte, source schemas.Position) []schemas.DeadLetter {
	rows, err := schemas.Samples.Decode(value)
	if err != nil {
		l.counts.Read++
		l.counts.Dropped++
		if l.batcher.Lose(string(key), source) {
			l.offsets.hold(source) // a restart must know of it while its group is open
		}
		return []schemas.DeadLetter{l.letter(schemas.ReasonOf(err), err.Error(), "", key, value, source)}
	}
	newest := map[string]int64{} // by group, of which a record has all that closed together
	for i := range rows {
		s := &rows[i]
		newest[s.GroupID] = max(newest[s.GroupID], newestOf(s))
	}
	var letters []schemas.DeadLetter
	for _, s := range rows {
		l.counts.Read++
		kept, drops := l.batcher.Add(s, source, l.unusable(&s), newest[s.GroupID])
		switch {
		case kept:
			l.offsets.hold(source)
			l.counts.Held++
			for _, d := range drops {
				l.offsets.release(d.Source)
				l.counts.Held--
			}
		case len(drops) == 0:
			l.counts.Repeated++
		}
		letters = append(letters, l.leave(drops)...)
	}
	return letters
}

// unusable says why the trainer cannot take a sample, if it cannot.
func (l *Learner) unusable(s *schemas.Sample) string {
	if limit := l.parts.Trainer.Config().MaxPositionEmbeddings; limit > 0 && len(s.Tokens) > limit {
		return fmt.Sprintf("has %d tokens, the model takes %d", len(s.Tokens), limit)
	}
	for i, id := range s.Tokens {
		if id >= l.vocab {
			return fmt.Sprintf("token %d is %d, the vocabulary has %d", i, id, l.vocab)
		}
	}
	return ""
}

// leave turns drops into dead letters. The payload is the row alone, encoded
// again: the record's own bytes unless it held several rows.
func (l *Learner) leave(drops []Drop) []schemas.DeadLetter {
	var letters []schemas.DeadLetter
	for _, d := range drops {
		l.counts.Dropped++
		payload, err := schemas.Samples.Encode(d.Sample)
		message := d.Message
		if err != nil { // cannot be: the sample was decoded
			message = fmt.Sprintf("%s (its payload is lost: %v)", message, err)
		}
		letters = append(letters, l.letter(d.Reason, message, d.Sample.ID, []byte(d.Sample.GroupID), payload, d.Source))
	}
	return letters
}

func (l *Learner) letter(reason schemas.Reason, message, id string, key, payload []byte, source schemas.Position) schemas.DeadLetter {
	return schemas.DeadLetter{
		ID:    fmt.Sprintf("learn/%s/%d/%d/%s", source.Topic, source.Partition, source.Offset, id),
		Stage: "learn", Reason: reason, Message: message, RecordID: id, Key: key, Payload: payload,
		Source: source, Attempts: 1, Time: l.parts.Now().UnixMicro(),
	}
}
