package conform

// The canonical form of a session's state: the same state with the smallest identifiers.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// theGen is the generation of every machine in a canonical state. The events of an adapter have this one or an older one.
const theGen = 1

// canonical returns s with the smallest identifiers in the same order, and with theGen for every generation. The code only
// compares identifiers and counts them up, so it takes the same step from s and from canonical(s)
// (TestCanonicalStatesStandForAll). So a comparison visits each situation once, and not once for each set of identifiers.
func canonical(s session.State) session.State {
	var replies []machine.Response
	var turns []machine.Turn
	renamed(s, func(r machine.Response) machine.Response {
		replies = append(replies, r)
		return r
	}, func(t machine.Turn) machine.Turn {
		turns = append(turns, t)
		return t
	})
	return renamed(s, ranks(replies), ranks(turns))
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
	switch c := s.Conn.(type) {
	case conn.Live:
		s.Conn = conn.Live{VAD: c.VAD, Gen: theGen}
	case conn.Interrupted:
		s.Conn = conn.Interrupted{VAD: c.VAD, Gen: theGen}
	case conn.Connecting, conn.Closing, conn.Closed:
	}
	switch t := s.Turn.(type) {
	case turn.Candidate:
		s.Turn = turn.Candidate{Turn: of(t.Turn)}
	case turn.Speaking:
		s.Turn = turn.Speaking{Turn: of(t.Turn), EOU: t.EOU, Gate: t.Gate, Gen: theGen}
	case turn.Confirming:
		s.Turn = turn.Confirming{Turn: of(t.Turn), Gen: theGen}
	case turn.Idle:
	}
	s.Response = renamedResponse(s.Response, reply)
	switch p := s.Playout.(type) {
	case playout.Silent:
		s.Playout = playout.Silent{Gen: theGen, Last: reply(p.Last)}
	case playout.Playing:
		s.Playout = playout.Playing{Resp: reply(p.Resp), Gen: theGen}
	case playout.Held:
		p.Resp, p.Candidate, p.Client, p.Gen = reply(p.Resp), of(p.Candidate), of(p.Client), theGen
		s.Playout = p
	case playout.Cut:
		p.Resp, p.Gen = reply(p.Resp), theGen
		s.Playout = p
	case playout.Terminated:
	}
	s.Live, s.Final, s.Older = renamedStream(s.Live, of), renamedStream(s.Final, of), renamedStream(s.Older, of)
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

func renamedResponse(s response.State, reply func(machine.Response) machine.Response) response.State {
	switch s := s.(type) {
	case response.Active:
		return response.Active{ID: reply(s.ID)}
	case response.Draining:
		return response.Draining{Old: reply(s.Old)}
	case response.Replacing:
		return response.Replacing{Old: reply(s.Old), Next: reply(s.Next)}
	case response.Terminating:
		return response.Terminating{Old: reply(s.Old)}
	case response.Idle, response.Terminated:
	}
	return s
}

func renamedStream(s transcription.State, of func(machine.Turn) machine.Turn) transcription.State {
	switch s := s.(type) {
	case transcription.Opening:
		return transcription.Opening{Turn: of(s.Turn)}
	case transcription.Streaming:
		return transcription.Streaming{Turn: of(s.Turn), EOU: s.EOU}
	case transcription.Finalizing:
		return transcription.Finalizing{Turn: of(s.Turn), Whole: s.Whole}
	case transcription.Closed, transcription.Unavailable:
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

// segmentOf returns the generation of the playout: the number of its last segment of audio.
func segmentOf(s session.State) uint32 {
	switch p := s.Playout.(type) {
	case playout.Silent:
		return p.Gen
	case playout.Playing:
		return p.Gen
	case playout.Held:
		return p.Gen
	case playout.Cut:
		return p.Gen
	case playout.Terminated:
	}
	return 0
}

// lossesOf returns the generation of the connection: how often the transport was lost.
func lossesOf(s session.State) uint32 {
	switch c := s.Conn.(type) {
	case conn.Live:
		return c.Gen
	case conn.Interrupted:
		return c.Gen
	case conn.Connecting, conn.Closing, conn.Closed:
	}
	return 0
}

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
