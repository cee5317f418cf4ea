package session

// The events of a client that predicts barge-ins, and what the player posts. The player knows what was played
// (package output), the machines decide, and this file carries events from one to the other.

import (
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/server/session/output"
	"github.com/antiphon-rt/antiphon/wire"
)

// mayReport reports whether the client has said that it predicts barge-ins. A client that has not gets an error.
func (s *Session) mayReport(o origin) bool {
	if s.client.reports && o.side == nil {
		return true
	}
	s.fail(o, &fault.Failure{
		Code: "unsupported_event", Param: "type",
		Message: "antiphon.barge_in events are for clients that predict interruptions: send antiphon.hello with barge_in first",
	})
	return false
}

// candidate takes the report of the client's detector that somebody may be interrupting. Every report is answered, but
// for one about a response that was cut a short time ago: the events of that cut are on their way and are the answer.
func (s *Session) candidate(o origin, e *wire.AntiphonBargeInCandidate) {
	if !s.mayReport(o) || s.player.WasCut(e.ResponseID) {
		return
	}
	fresh, opens := s.player.TakeCandidate(e.Candidate, e.ResponseID, s.machines.state.Playout)
	if opens {
		s.openCandidate(o, e)
	}
	s.send(s.player.Acknowledge(e.ID()))
	if fresh && s.player.Judged() { // there is nothing to interrupt, or the client may not
		s.send(s.player.RejectNewest())
	}
}

// openCandidate has the machines take the client's newest candidate.
func (s *Session) openCandidate(o origin, e *wire.AntiphonBargeInCandidate) {
	was := turn.Open(s.machines.state.Turn)
	s.stepAt(o, s.player.DuckedAt(e.RTPTimestamp), coord.OfTurn{Event: turn.ClientCandidate{}})
	c, is := s.machines.state.Turn.(turn.Candidate)
	if !is {
		return
	}
	s.player.Opened(c.Turn)
	if c.Turn != was {
		held, _ := s.machines.state.Playout.(playout.Held)
		s.input.OpenPredicted(c.Turn, held.Tail)
	}
}

// ready takes the client's report that it plays at full level again.
func (s *Session) ready(o origin, e *wire.AntiphonBargeInReady) {
	if !s.mayReport(o) {
		return
	}
	if ev, ok := s.player.Ready(e.Candidate, e.RTPTimestamp, s.machines.state.Playout); ok {
		s.stepFor(o, ev)
	}
}

// heard takes the client's report of what it played of a response that was cut.
func (s *Session) heard(o origin, e *wire.AntiphonBargeInHeard) {
	if !s.mayReport(o) || !s.player.ServerPaced() {
		return
	}
	cut, waits := s.machines.state.Playout.(playout.Cut)
	if !waits || s.target(e.ResponseID) != cut.Resp {
		return
	}
	if ev, ok := s.player.Heard(s.generator.Find(cut.Resp).Track(), e.RTPTimestamp); ok {
		s.stepFor(o, ev)
	}
}

// fromPlayer takes what the player has posted.
func (s *Session) fromPlayer(e output.Event) {
	switch e := e.(type) {
	case output.Drained:
		s.do(origin{}, s.player.Drained(e.Gen))
	case output.ReadyDue:
		s.estimate(s.player.EstimateReady(e))
	case output.HeardDue:
		if cut, ok := s.machines.state.Playout.(playout.Cut); ok {
			s.estimate(s.player.EstimateHeard(e, s.generator.Find(cut.Resp).Track(), cut.At))
		}
	case output.TailOver:
		s.player.TailOver(e.Resp)
	}
}

// estimate uses the server's estimate in place of a report that has not come in time.
func (s *Session) estimate(e output.Estimate) {
	before := s.machines.state.Playout
	s.step(e.Event)
	if s.machines.state.Playout == before {
		return
	}
	s.player.CountEstimate()
	s.log.Warn("a client did not report in time what it played: the server uses its estimate", "report", e.Report,
		"uncertain_ms", e.Uncertain.Milliseconds(), "estimates", s.player.Estimates())
}
