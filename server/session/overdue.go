package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
)

// How long a client that reports is waited for, and what stands for a report that does not come.

const (
	// reportWait is how long a report of the client's may take beside its way to and fro.
	reportWait = 300 * time.Millisecond
	// usualTrip is the round trip where nothing has measured it.
	usualTrip = 200 * time.Millisecond
	// tailFor is how long the end of a reply may still be ahead of the ear after it was sent.
	tailFor = 2 * time.Second
)

// reportIn is how long to wait for a report of the client's.
func (s *Session) reportIn() time.Duration {
	trip := usualTrip
	if l := s.can.RoundTripper; l != nil && l.RoundTrip() > 0 {
		trip = l.RoundTrip()
	}
	return trip + reportWait
}

// Events that say that a report has not come in time.
type (
	readyDue struct{ turn turn.ID }
	heardDue struct{ resp response.ID }
	tailOver struct{ resp response.ID }
)

// reportDue takes the news that something of the client's has not come in time.
func (s *Session) reportDue(e any) {
	switch e := e.(type) {
	case readyDue:
		s.readyOverdue(e.turn)
	case heardDue:
		s.heardOverdue(e.resp)
	case tailOver:
		if s.tail != nil && s.tail.id == e.resp {
			s.endTail()
		}
	}
}

// overdue has the estimate stand where a report does not come. It is the one case in which a word may be lost, or said again that
// was heard, or cut off in the conversation elsewhere than for the ear: it is counted, and told how much is uncertain.
func (s *Session) overdue(e playout.Event, report string, sent voice.Samples) {
	before, uncertain := s.state.Playout, voice.Samples(0)
	if s.claim.lowered {
		uncertain = max(0, sent-s.claim.from)
	}
	s.step(coord.OfPlayout{Event: e})
	if s.state.Playout == before {
		return
	}
	s.claim.guesses++
	s.log.Warn("a client did not say what it heard: the estimate stands", "report", report,
		"uncertain_ms", uncertain.Milliseconds(format.OutputRate), "guesses", s.claim.guesses)
}

// readyOverdue: the reply goes on from where it was held, and that is where the client has lowered it, if it said so.
func (s *Session) readyOverdue(t turn.ID) {
	s.overdue(playout.ReadyExpired{Candidate: t}, "ready", s.speaker.Sent())
}

// heardOverdue: the item is cut where the reply was held, or had been sent to.
func (s *Session) heardOverdue(resp response.ID) {
	if cut, ok := s.state.Playout.(playout.Cut); ok {
		s.overdue(playout.HeardExpired{Resp: resp}, "heard", s.replies[cut.Resp].position(cut.At))
	}
}

// linger keeps a reply whose end was sent and may not have been heard yet.
func (s *Session) linger(r *reply) {
	if s.coordConfig().Reports {
		s.tail = r
		s.after("tail", tailFor, tailOver{r.id})
	}
}

// endTail lets go of such a reply.
func (s *Session) endTail() {
	if r := s.tail; r != nil {
		s.tail = nil
		s.stopTimer("tail")
		s.forget(r)
	}
}
