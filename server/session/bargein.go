package session

import (
	"math"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// The server's half of an interruption that the client predicts: see coord/bargein for the client's. What the client says of
// its playback are RTP timestamps, and only here it is known what they are in the reply.

// claim is what is known of a client's own candidates. They count up; the newest alone counts.
type claim struct {
	candidate int           // the newest; 0 is none yet
	turn      turn.ID       // that it is a candidate of, while it waits for its verdict; 0 else
	from      voice.Samples // what the client heard at full level when it lowered the agent
	lowered   bool          // it has, and said so
	// back is where the reply goes on after the silence that is being sent, when that is decided: none before.
	back    voice.Samples
	decided bool
	guesses int // times that an estimate stood in for a report
	// played are the replies that played last, by their names for the client. cut are those that were taken away: a candidate
	// for one of them has crossed the news on the way. Both are rings.
	played [2]string
	cut    [8]string
}

// note puts name into a ring, the newest first.
func note(ring []string, name string) {
	copy(ring[1:], ring)
	ring[0] = name
}

// names says whether name, which is not empty, is in a ring.
func names(ring []string, name string) bool { return name != "" && slices.Contains(ring, name) }

// mayReport: the client has said that it predicts interruptions. One that has not gets an error: its author is to know.
func (s *Session) mayReport() bool {
	if !s.reports || s.side != nil {
		s.fail(failure{
			code: "unsupported_event", param: "type",
			message: "antiphon.barge_in events are for clients that predict interruptions: send antiphon.hello with barge_in first",
		})
	}
	return s.reports && s.side == nil
}

// candidate takes the word of the client's detector that somebody may be interrupting. Every one is answered, but for a reply
// that was interrupted already: the news of that is on its way, and is the answer.
func (s *Session) candidate(e *wire.AntiphonBargeInCandidate) {
	if !s.mayReport() || names(s.claim.cut[:], e.ResponseID) {
		return
	}
	fresh := e.Candidate > s.claim.candidate
	if fresh {
		s.claim.candidate, s.claim.turn = e.Candidate, 0
		if names(s.claim.played[:], e.ResponseID) {
			s.open(e)
		}
	}
	ack := &wire.AntiphonAck{Acknowledges: e.ID()}
	if l := s.can.Timeline; l != nil {
		if ts, silent := l.FirstSilent(); silent {
			ack.RTPTimestamp = int(ts)
		}
	}
	s.send(ack)
	if fresh && s.claim.turn == 0 { // nothing waits for it: there is nothing to interrupt, or it may not be
		s.send(&wire.AntiphonBargeInRejected{Candidate: e.Candidate})
	}
}

// open has the machines take the client's newest candidate, where its reply may still be heard.
func (s *Session) open(e *wire.AntiphonBargeInCandidate) {
	if _, silent := s.state.Playout.(playout.Silent); silent && s.media && s.tail == nil {
		return // it was heard to its end
	}
	// What was heard at full level when the client lowered the agent stands for its ready, should that not come.
	at := s.position()
	if r := s.sounding(); r != nil {
		if s.claim.from, s.claim.lowered = s.fullUpTo(r, e.RTPTimestamp); s.claim.lowered {
			at = r.mark(s.claim.from)
		}
	}
	was := turn.Open(s.state.Turn)
	s.stepAt(at, coord.OfTurn{Event: turn.ClientCandidate{}})
	c, is := s.state.Turn.(turn.Candidate)
	if !is {
		return
	}
	s.claim.turn = c.Turn
	if u := s.turns[c.Turn]; u != nil && c.Turn != was {
		u.judge = predicted()
		if h, held := s.state.Playout.(playout.Held); held {
			u.judge.over = h.Tail
		}
		s.hearing.paused = false // what was the last pause is another turn's
	}
}

// ready takes the client's word that its level is up again, and what it heard at full level.
func (s *Session) ready(e *wire.AntiphonBargeInReady) {
	if !s.mayReport() || !s.media || e.Candidate != s.claim.candidate {
		return
	}
	h, held := s.state.Playout.(playout.Held)
	r := s.sounding()
	if !held || !h.Awaits || h.Client != s.claim.turn || r == nil {
		return
	}
	pos, ok := s.fullUpTo(r, e.RTPTimestamp)
	if !ok { // nobody knows where that is: it is as if it had not been said
		return
	}
	s.claim.back, s.claim.decided = pos, true
	s.step(coord.OfPlayout{Event: playout.Ready{Candidate: h.Client, At: r.mark(pos)}})
}

// heard takes what the client heard of a reply that was taken away.
func (s *Session) heard(e *wire.AntiphonBargeInHeard) {
	if !s.mayReport() || !s.media {
		return
	}
	cut, waits := s.state.Playout.(playout.Cut)
	if !waits || s.target(e.ResponseID) != cut.Resp {
		return
	}
	r := s.replies[cut.Resp]
	if place, ok := s.place(e.RTPTimestamp); ok {
		s.step(coord.OfPlayout{Event: playout.Heard{Resp: r.id, At: r.mark(r.heardAt(place))}})
	}
}

// sounding is the reply that the ear is at: the one on air, or the one whose tail may still be under way.
func (s *Session) sounding() *reply {
	if s.onAir != nil {
		return s.onAir
	}
	return s.tail
}

// place is what a client of WebRTC plays at a timestamp of its own telling.
func (s *Session) place(ts int) (p call.Position, ok bool) {
	l := s.can.Timeline
	if l == nil || ts <= 0 || ts > math.MaxUint32 {
		return call.Position{}, false
	}
	return l.PositionAt(uint32(ts))
}

// heardAt is how far r was heard, at any level, where place plays. Once it was to go on from somewhere, what was lowered before is as if
// it had not been heard: it was to be said again.
func (r *reply) heardAt(place call.Position) voice.Samples {
	switch {
	case place.Gen < r.gen: // the reply before it, or nothing yet
		return 0
	case place.NextGen != 0:
		return place.Next
	}
	return place.At
}

// heardWhole: somebody spoke over the end of r, and heard it all the same. Nothing is cut then.
func (r *reply) heardWhole(end playout.Mark) bool { return r.ended && end == r.mark(r.audio) }

// fullUpTo is how far r was heard without a gap where ts plays: in a silence of ours that is where it goes on after it.
func (s *Session) fullUpTo(r *reply, ts int) (voice.Samples, bool) {
	place, ok := s.place(ts)
	switch {
	case !ok:
		return 0, false
	case place.NextGen >= r.gen && place.NextGen != 0:
		return place.Next, true
	case place.Gen < r.gen:
		return 0, true
	case place.Silent && s.claim.decided:
		return s.claim.back, true
	case place.Silent:
		return s.speaker.Sent(), true
	}
	return place.At, true
}

// hold stops the reply that is heard, or whose end still may be.
func (s *Session) hold(resp response.ID) {
	s.claim.decided = false
	if r := s.tail; r != nil && r.id == resp {
		s.tail, s.onAir = nil, r
		s.stopTimer("tail")
	}
	if r := s.onAir; r != nil && r.id == resp {
		s.speaker.Hold()
	}
}

// verdictGiven tells the client of a candidate of its own that waits no more and held nothing: of what was held, playout tells.
func (s *Session) verdictGiven() {
	t := s.claim.turn
	if t == 0 || turn.Open(s.state.Turn) == t {
		return
	}
	if h, held := s.state.Playout.(playout.Held); held && h.Client == t {
		return
	}
	s.rejected(t)
}

// rejected tells the client that its candidate of turn t was none.
func (s *Session) rejected(t turn.ID) {
	if t == s.claim.turn {
		s.claim.turn, s.claim.lowered = 0, false
		s.send(&wire.AntiphonBargeInRejected{Candidate: s.claim.candidate})
	}
}
