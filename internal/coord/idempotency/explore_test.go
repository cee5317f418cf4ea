package idempotency

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// The explored domain.
const (
	tries  = 3
	leases = 3 // taken at most
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Free{},
	States:  []State{Free{}, Locked{}, Cached{}, Unknown{}},
	Events:  []Event{Check{}, Sending{}, Processed{}, GaveUp{}, LeaseExpired{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "tries 1 to 3, payloads 1 and 2, leases 1 to 3, each try with a response of its own",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "forgets what it was taken for", From: "Locked", Event: "LeaseExpired", Action: "Expire",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			s := next.(Free)
			s.Payload = 0
			return s, f
		},
	}, {
		Name: "is given to somebody else", From: "Locked", Event: "Check", Action: "Wait",
		Change: func(from, _ State, f []Effect) (State, []Effect) {
			s := from.(Locked)
			s.Try = f[0].(Wait).Try
			return s, []Effect{Grant{s.Try}}
		},
	}, {
		Name: "sends without the mark", From: "Locked", Event: "Sending", Action: "Send",
		Change: func(from, _ State, f []Effect) (State, []Effect) { return from, f },
	}},
}

// may offers checks of every try with its own payload and with another's, reports of
// tries that hold the lock, that held it and that never did, and leases that are over,
// running and never taken. Where the domain has no further lease nobody locks.
func may(s State, _ Seen) []Event {
	var out []Event
	free, isFree := s.(Free)
	for t := Try(1); t <= tries; t++ {
		if !isFree || free.Lease < leases {
			out = append(out, Check{t, 1, false}, Check{t, 1, true}, Check{t, 2, false})
		}
		out = append(out, Sending{t}, Processed{t, Response(t)}, GaveUp{t})
	}
	for l := Lease(0); l <= leases+1; l++ {
		out = append(out, LeaseExpired{l})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	locked := func(s State) bool { _, is := s.(Locked); return is }
	given := func(_, next State) bool { return !locked(next) }
	t.Run("LockEnds", func(t *testing.T) {
		expires := func(_ State, e Event) bool { _, is := e.(LeaseExpired); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, locked, expires, given)).To(gomega.BeEmpty())
	})
	t.Run("EveryReqFinishAsCachedOrFromCache", func(t *testing.T) {
		goesOn := func(_ State, e Event) bool {
			switch e.(type) {
			case Check, Sending, Processed:
				return true
			case GaveUp, LeaseExpired:
			}
			return false
		}
		open := func(s State) bool {
			if s, free := s.(Free); free {
				return s.Lease < leases
			}
			return locked(s)
		}
		cached := func(_, next State) bool { _, is := next.(Cached); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, open, goesOn, cached)).To(gomega.BeEmpty())
	})
}
