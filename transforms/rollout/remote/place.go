package remote

// state is what an endpoint is fit for.
type state int

const (
	down     state = iota // not known to answer
	changing              // its weights change; it takes no request
	up
)

// none is the version of an endpoint whose weights are not known, and of a policy
// that has published none.
const none int64 = -1

// place is what the choice of an endpoint goes by.
//
// Invariant: while inFlight > 0 nobody changes the weights of the server. A request
// is let in only where usable, and weights change only in state changing with
// inFlight == 0.
type place struct {
	state    state
	version  int64
	inFlight int // requests now
	sessions int // that sent their last request here
}

// usable tells whether a request for the version may go there, now or when there
// is room.
func (p *place) usable(version int64) bool {
	return version != none && p.state == up && p.version == version
}

// choose returns where a session sends its next request, or -1 to wait. It stays
// where its prefix is cached (held, -1 for none), and waits there for room and for a
// change of weights to end; otherwise it goes to the usable place with the fewest
// sessions, the first of equals.
func choose(places []*place, held int, version int64, limit int) int {
	if held >= 0 {
		switch p := places[held]; {
		case p.usable(version) && p.inFlight < limit:
			return held
		case p.usable(version), p.state == changing:
			return -1
		}
	}
	best := -1
	for i, p := range places {
		if p.usable(version) && p.inFlight < limit && (best < 0 || p.sessions < places[best].sessions) {
			best = i
		}
	}
	return best
}

// hopeful tells whether waiting is worth it: a place is in use or about to be.
func hopeful(places []*place, version int64) bool {
	for _, p := range places {
		if p.usable(version) || p.state == changing {
			return true
		}
	}
	return false
}
