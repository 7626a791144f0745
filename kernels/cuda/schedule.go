package cuda

import (
	"container/list"
	"fmt"
	"slices"
)

// schedule decides what enters each tick. It is a state machine without a device or a
// clock; the generator's lock guards it.
//
// Every call that runs and has one token to read goes one step further in each tick; calls
// with more share a bounded number of tokens, the oldest first. Where pages run out, the
// sequences that wait for their session's next call lose theirs first, the one unused for
// longest before the others, and then the youngest call that runs, which goes back to
// the head of the queue. So the oldest call always goes on, and every call ends.
type schedule struct {
	pages         *pages
	prefillTokens int // of a tick
	most          int // calls that run
	running       []*request
	waiting       []*request
	idle          *list.List // of sequences, the one to take pages from first at the front
	reading       map[prefix]bool

	adopted   int64 // tokens of prefixes that others had made
	preempted int64 // sequences that lost their pages
}

func newSchedule(p *pages, prefillTokens, most int) *schedule {
	return &schedule{pages: p, prefillTokens: prefillTokens, most: most, idle: list.New(), reading: make(map[prefix]bool)}
}

func (s *schedule) busy() bool { return len(s.running)+len(s.waiting) > 0 }

// submit queues a call.
func (s *schedule) submit(r *request) {
	s.notIdle(&r.session.sequence)
	s.waiting = append(s.waiting, r)
}

// end takes the calls that are over off the schedule and returns them.
func (s *schedule) end() (over []*request) {
	split := func(requests []*request) []*request {
		return slices.DeleteFunc(requests, func(r *request) bool {
			if !r.over() {
				return false
			}
			over = append(over, r)
			q := &r.session.sequence
			if r.failed() {
				q.drop(s.pages)
			} else if len(q.pages) > 0 {
				q.idle = s.idle.PushBack(q)
			}
			return true
		})
	}
	s.running, s.waiting = split(s.running), split(s.waiting)
	return over
}

// leave gives back what a session holds that is closed.
func (s *schedule) leave(q *sequence) {
	s.notIdle(q)
	q.drop(s.pages)
}

func (s *schedule) notIdle(q *sequence) {
	if q.idle != nil {
		s.idle.Remove(q.idle)
		q.idle = nil
	}
}

// plan chooses the calls of the next tick, each with the number of its tokens: those that
// read one token, all of which sample, and those that read more.
func (s *schedule) plan() (decoding, reading []*request) {
	s.admit()
	budget := s.prefillTokens
	clear(s.reading)
	for i := 0; i < len(s.running); i++ { // preemption shortens it
		r := s.running[i]
		q := &r.session.sequence
		s.adopted += int64(q.adopt(s.pages))
		r.take = s.share(q, budget)
		if r.take == 0 || !s.reserve(i) {
			continue
		}
		if q.pending() == 1 {
			decoding = append(decoding, r)
			continue
		}
		reading = append(reading, r)
		budget -= r.take
		if key, ok := q.next(s.pages); ok && r.take >= pageTokens {
			s.reading[key] = true
		}
	}
	return decoding, reading
}

// admit lets waiting calls run while there is room for what they hold already and a page
// for everyone else to grow by. Alone, a call may always try.
func (s *schedule) admit() {
	for len(s.waiting) > 0 && len(s.running) < s.most {
		q := &s.waiting[0].session.sequence
		if len(s.running) > 0 && !s.make(pagesFor(len(q.tokens))-len(q.pages)+len(s.running)) {
			return
		}
		s.running = append(s.running, s.waiting[0])
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
}

// share is how many tokens of a sequence enter the tick. A sequence whose next page is made
// by another one in this tick waits for it. A part of a prompt ends with a page, if it can.
func (s *schedule) share(q *sequence, budget int) int {
	pending := q.pending()
	if pending == 1 {
		return 1
	}
	if key, ok := q.next(s.pages); ok && s.reading[key] {
		return 0
	}
	if pending <= budget {
		return pending
	}
	if whole := (q.cached+budget)/pageTokens*pageTokens - q.cached; whole > 0 {
		return whole
	}
	return budget
}

// reserve gives running call i the pages of its part of the tick. If there are none left, it
// goes back to the queue, or ends if it is alone.
func (s *schedule) reserve(i int) bool {
	r := s.running[i]
	q := &r.session.sequence
	want := pagesFor(q.cached+r.take) - len(q.pages)
	for !s.make(want) {
		last := len(s.running) - 1
		if last == 0 {
			r.err = fmt.Errorf("generating: a sequence of %d tokens: %w: the cache holds %d", len(q.tokens), ErrOutOfMemory, len(s.pages.all)*pageTokens)
			return false
		}
		victim := s.running[last]
		s.running = s.running[:last]
		s.waiting = slices.Insert(s.waiting, 0, victim)
		victim.session.sequence.drop(s.pages)
		s.preempted++
		if last == i {
			return false
		}
	}
	for range want {
		q.pages = append(q.pages, s.pages.take())
	}
	return true
}

// make tells whether n pages can be taken, now that idle sequences have lost theirs if that
// was needed.
func (s *schedule) make(n int) bool {
	for s.pages.available() < n && s.idle.Len() > 0 {
		q := s.idle.Front().Value.(*sequence)
		s.leave(q)
		s.preempted++
	}
	return s.pages.available() >= n
}
