package conform

// The canonical form of a session's state: the same state with the smallest identifiers.

import (
	"reflect"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
)

// theGen is the generation of every machine in a canonical state. The events of an adapter have this one or an older one.
const theGen = 1

// canonical returns s with the smallest identifiers in the same order, and with theGen for every generation. The code only
// compares identifiers and counts them up, so it takes the same step from s and from canonical(s)
// (TestCanonicalStatesStandForAll). So a comparison visits each situation once, and not once for each set of identifiers.
func canonical(s session.State) session.State {
	return ranked(func(reply func(machine.Response) machine.Response, of func(machine.Turn) machine.Turn) session.State {
		return renamed(s, reply, of)
	})
}

// canonicalAfter returns canonical(to), where at is canonical. Most events change nothing.
func canonicalAfter(at, to session.State) session.State {
	if to == at {
		return at
	}
	return canonical(to)
}

// ranked returns what rename returns with functions that number the identifiers that it has by their order.
func ranked[V any](rename func(func(machine.Response) machine.Response, func(machine.Turn) machine.Turn) V) V {
	var replies []machine.Response
	var turns []machine.Turn
	rename(noted(&replies), noted(&turns))
	return rename(ranks(replies), ranks(turns))
}

// noted returns a function that adds each identifier to ids, and does not change it.
func noted[T any](ids *[]T) func(T) T {
	return func(id T) T {
		*ids = append(*ids, id)
		return id
	}
}

// ranks returns a function that numbers ids by their order, from 1. 0 stays 0.
func ranks[T ~uint64](ids []T) func(T) T {
	slices.Sort(ids)
	ids = slices.Compact(slices.DeleteFunc(ids, func(i T) bool { return i == 0 }))
	return func(i T) T {
		if i == 0 {
			return 0
		}
		n, _ := slices.BinarySearch(ids, i)
		return T(n + 1)
	}
}

// renamed returns s with other identifiers, and with theGen for every generation.
func renamed(s session.State, reply func(machine.Response) machine.Response, of func(machine.Turn) machine.Turn) session.State {
	rename := func(field reflect.StructField, v reflect.Value) {
		switch {
		case field.Type == reflect.TypeFor[machine.Response]():
			v.SetUint(uint64(reply(machine.Response(v.Uint()))))
		case field.Type == reflect.TypeFor[machine.Turn]():
			v.SetUint(uint64(of(machine.Turn(v.Uint()))))
		case field.Name == "Gen":
			v.SetUint(theGen)
		}
	}
	s.Conn, s.Turn, s.Response, s.Playout = Alter(s.Conn, rename), Alter(s.Turn, rename), Alter(s.Response, rename), Alter(s.Playout, rename)
	s.Live, s.Final, s.Older = Alter(s.Live, rename), Alter(s.Final, rename), Alter(s.Older, rename)
	s.Waiting, s.LastTurn = of(s.Waiting), of(s.LastTurn)
	s.Begun, s.LastResponse = reply(s.Begun), reply(s.LastResponse)
	for i, q := range s.Queued {
		s.Queued[i] = reply(q)
	}
	if owed(s) {
		s.Owed = theOwed
	}
	return s
}

// theOwed is the request that a canonical state has in Owed, if it has one. The code passes a request on, and only asks whether
// there is one. theRequest and otherRequest are requests of a client.
var theOwed, theRequest, otherRequest = machine.Request{Client: 2}, machine.Request{Client: 1}, machine.Request{Client: 3}

// freshRequest returns a request that the session does not owe.
func freshRequest(s session.State) machine.Request {
	if s.Owed == theRequest {
		return otherRequest
	}
	return theRequest
}

func owed(s session.State) bool { return s.Owed != machine.Request{} }

// heardLast returns the response whose end a client that reports may not have played yet, or 0. For other clients it returns 0.
func heardLast(s session.State) machine.Response {
	if p, is := s.Playout.(playout.Silent); is && s.Config.Reports {
		return p.Last
	}
	return 0
}

// body returns the response whose body runs, or 0.
func body(s response.State) machine.Response {
	switch s := s.(type) {
	case response.Active:
		return s.ID
	case response.Draining:
		return s.Old
	case response.Replacing:
		return s.Old
	case response.Terminating:
		return s.Old
	case response.Idle, response.Terminated:
	}
	return 0
}
