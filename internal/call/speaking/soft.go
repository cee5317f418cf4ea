package speaking

// A held response goes on softly until the sound over it is like the user's voice, or until the verdict: a cough or a word to somebody else is no reason
// for a silence. The client lowers it, or else the server does. If the candidate is rejected before the silence, nothing is said again.

import (
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
)

// softGain is the gain of a response that the server lowers, for a client that does not: 20 dB.
const softGain = 0.1

// soft is a held response that goes on softly. The zero value is none.
type soft struct {
	on        bool
	candidate string  // the id of the client's newest candidate, which is answered when the silence begins; "" for none
	ready     turn.ID // the client's ready is awaited for this turn, once it has that answer; 0 for none
}

// Soft reports whether a held response goes on softly now.
func (p *Player) Soft() bool { return p.soft.on }

// Softens reports whether a held response goes on softly.
func (p *Player) Softens() bool { return p.ServerPaced() }

// Settle returns what the machines must know before they take e, nil for nothing: the response that is held was heard up to here, because it went on
// softly until this verdict.
func (p *Player) Settle(e coord.Event, s *coord.State) coord.Event {
	held, is := s.Playout.(playout.Held)
	if !p.soft.on || !is || !decides(e, s.Turn) {
		return nil
	}
	if p.claim.turn != 0 {
		p.claim.late = p.claim.candidate
	}
	if held.Awaits {
		return coord.OfPlayout{Event: playout.Ready{Candidate: held.Client, At: p.ItemPosition()}}
	}
	return coord.OfPlayout{Event: playout.Missed{Resp: held.Resp, From: p.ItemPosition()}}
}

// decides reports whether e may be the verdict on the candidate that is open in s, or cuts the response.
func decides(e coord.Event, s turn.State) bool {
	switch e := e.(type) {
	case coord.OfTurn:
		if _, open := s.(turn.Candidate); !open {
			return false
		}
		switch e.Event.(type) {
		case turn.Sustained, turn.Misfire, turn.Commit, turn.Clear:
			return true
		}
	case coord.OfPlayout:
		_, clears := e.Event.(playout.Clear)
		return clears
	}
	return false
}

// Silence ends the sound of a response that is held and goes on softly. The client's candidate gets its answer.
func (p *Player) Silence(s *coord.State) (out room.List) {
	held, is := s.Playout.(playout.Held)
	if is && p.soft.on && held.Client == 0 { // a client that does not report has missed nothing
		out.Step(coord.OfPlayout{Event: playout.Missed{Resp: held.Resp, From: p.ItemPosition()}})
	}
	return append(p.stopSoft(), out...)
}

func (p *Player) stopSoft() (out room.List) {
	was := p.soft
	if !was.on {
		return nil
	}
	p.soft = soft{}
	p.out.Hold()
	if was.candidate != "" {
		out.Send(p.Acknowledge(was.candidate))
	}
	if was.ready != 0 {
		p.AwaitReady(was.ready)
	}
	return out
}

// Answer answers the client's candidate, whose event is called id. opened says that a response is held for it. While that goes on softly, the answer
// waits for the silence; a verdict before that is the answer.
func (p *Player) Answer(id string, opened bool) (out room.List) {
	if opened && p.soft.on {
		p.soft.candidate = id
		return nil
	}
	out.Send(p.Acknowledge(id))
	return out
}

// goBack takes the client's ready for a candidate that was rejected while the response went on: the client had silenced it, and the user has missed
// what follows timestamp ts. ok is false if there is nothing for the machines.
func (p *Player) goBack(t *Track, ts int, s playout.State) (e coord.Event, ok bool) {
	at, known := p.fullUpTo(t, ts)
	if !known {
		return nil, false
	}
	p.claim.late = 0
	if held, is := s.(playout.Held); is && p.soft.on { // the server has found speech itself since
		p.out.Resume(uint64(held.Gen), at)
		return nil, false
	}
	return coord.OfPlayout{Event: playout.Missed{Resp: t.resp, From: t.ItemPosition(at)}}, true
}
