package journal

// The decisions of a Writer: which events may go to the client, whether the call can be continued elsewhere, and what is to be written next. It does no
// I/O and takes no lock.

// ledger is what a Writer knows of its log. The zero value has stored nothing.
type ledger struct {
	mode   mode
	given  uint64 // the number of the newest event that the session has given
	stored uint64 // all events up to this number are stored
	free   uint64 // all events up to this number may go to the client
	whole  bool   // the next write must contain the whole State
}

// mode says how the journal of a call stands.
type mode uint8

const (
	waiting      mode = iota // the client cannot reconnect yet: nothing is written, and events go out at once
	storing                  // events wait until they are stored
	unjournalled             // the store has failed: events go out at once, until the whole State is stored again
	fenced                   // another owner has taken the call over: nothing goes out
)

// begin notes that the client can reconnect from now on. The whole State is written first.
func (l *ledger) begin() {
	if l.mode == waiting {
		l.mode, l.whole = storing, true
	}
}

// give notes that the session has given all events up to that number.
func (l *ledger) give(newest uint64) {
	l.given = max(l.given, newest)
	if l.mode == waiting || l.mode == unjournalled {
		l.free = l.given
	}
}

// take returns what the next write has: whether it has the whole State, and the number of the newest event in it.
func (l *ledger) take() (whole bool, newest uint64) {
	whole, l.whole = l.whole, false
	return whole, l.given
}

// wrote notes that the store has all events up to that number. whole says that the whole State was written. again reports that the call could not be continued before.
func (l *ledger) wrote(newest uint64, whole bool) (again bool) {
	if l.mode == fenced || l.mode == unjournalled && !whole {
		return false
	}
	again = l.mode == unjournalled
	l.mode = storing
	l.stored = max(l.stored, newest)
	l.free = max(l.free, l.stored)
	return again
}

// failed notes that a write has failed or has taken too long: it is not known what the store has. first reports that the call could be continued before.
func (l *ledger) failed() (first bool) {
	if l.mode != storing && l.mode != unjournalled {
		return false
	}
	first = l.mode == storing
	l.mode, l.whole, l.free = unjournalled, true, l.given
	return first
}

// fence notes that another owner has the call. first reports that this was not known.
func (l *ledger) fence() (first bool) {
	first = l.mode != fenced
	l.mode = fenced
	return first
}

// writes reports whether there is something to write.
func (l *ledger) writes() bool { return l.mode == storing || l.mode == unjournalled }
