package sdk

// How far the user has heard the agent's words.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
)

const (
	// soonest and latest bound the time between two looks at how far the user has heard the agent.
	soonest, latest = 20 * time.Millisecond, 100 * time.Millisecond
	// tailTime is how long the end of a response may be heard after the server has sent it.
	tailTime = 2 * time.Second
)

// heardWords is how far the user has heard the agent's words.
type heardWords struct {
	spoken playback.Spoken
	due    time.Duration // when to look at the position again; Never when nothing is heard
	ending string        // the response whose end was sent and is heard until endBy at the latest; "" for none
	endBy  time.Duration
}

// wordsEvent handles an event about the words in the agent's sound. It returns false for any other event.
func (s *Session) wordsEvent(e *serverEvent) bool {
	switch e.kind {
	case "antiphon.response.piece":
		s.heard.spoken.Piece(e.responseID, e.itemID, e.place.start, e.place.piece)
		if e.place.piece.Characters == 0 {
			s.items.Hear(e.itemID, 0)
		}
	case "antiphon.response.playing":
		r := playback.Run{Response: e.responseID, MS: e.place.ms, Timestamp: uint32(e.rtp), Held: e.place.held, Came: s.clock.Now()}
		if s.heard.spoken.Playing(r) && !r.Held {
			s.bargeIn(s.barge.WentBack(playback.Position{Timestamp: r.Timestamp}))
		}
	default:
		return false
	}
	s.follow()
	return true
}

// follow shows which words the user has heard, and says when to look again.
func (s *Session) follow() {
	h := &s.heard
	h.due = Never
	if s.phase != phaseLive {
		return
	}
	m := s.moment()
	said, wait, moves := h.spoken.Heard(m.At, m.Known, m.Now)
	for _, d := range said {
		if next := h.spoken.Until(d, s.items.Hear(d.Item, d.Characters)); moves {
			wait = deadline.First(wait, next)
		}
	}
	if wait != Never {
		h.due = m.Now + min(max(wait, soonest), latest)
	}
	if h.ending != "" && (wait == Never || m.Now >= h.endBy) {
		s.allHeard(h.ending)
	}
	s.dirty = s.dirty || s.items.Changed
}

// heardAgain looks at once how far the user has heard the agent: something of its sound has changed.
func (s *Session) heardAgain() {
	if s.heard.due == Never {
		s.heard.due = s.clock.Now()
	}
}

// wordsEnded notes that a response was played to its end, or was cut off. The server has said so when it sent the end: then the user hears it soon.
func (s *Session) wordsEnded(response string, cut bool) {
	switch _, plays := s.call.peer.(Player); {
	case cut:
		s.heard.spoken.Forget(response)
	case plays:
		s.allHeard(response)
	default:
		s.heard.ending, s.heard.endBy = response, s.clock.Now()+tailTime
		s.follow()
	}
}

// allHeard notes that the user has heard all of a response.
func (s *Session) allHeard(response string) {
	for _, id := range s.heard.spoken.Forget(response) {
		s.items.Hear(id, -1)
	}
	if s.heard.ending == response {
		s.heard.ending = ""
	}
	s.dirty = true
}

// wordsDeadline returns when to look at the position again; Never when nothing is heard.
func (s *Session) wordsDeadline() time.Duration {
	if s.heard.ending != "" {
		return deadline.First(s.heard.due, s.heard.endBy)
	}
	return s.heard.due
}
