package speaking

// A held response goes on softly until it is clear that it must stop: a cough or an "mm-hm" is no reason for a silence. For the machines, and for
// the exchange with a client that ducks the agent (coord/bargein), this is a candidate that comes a little later: what is sent softly is played again if
// the candidate is rejected, and the client's candidate is answered when the silence begins.

import (
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
)

// softGain is the gain of a response that the server lowers, for a client that does not: 20 dB.
const softGain = 0.1

// soft is a held response that goes on softly. The zero value is none.
type soft struct {
	on         bool
	full       bool     // the server does not lower it: the client does
	candidates []string // the ids of the client's candidates that are answered when the silence begins
	ready      turn.ID  // the client's ready is awaited for this turn, once it has that answer; 0 for none
}

// softEnd is where a response was silenced that the server had lowered. The zero value is none.
type softEnd struct {
	resp response.ID
	at   playout.Position
}

// Softens reports whether a held response goes on softly.
func (p *Player) Softens() bool { return p.able.Softener != nil }

// endSoft notes that the response is silent from now on.
func (p *Player) endSoft() {
	if p.soft.on && !p.soft.full {
		p.softEnd = softEnd{p.onAir.resp, p.ItemPosition()}
	}
	p.soft = soft{}
}

// CutAt returns where resp is cut that the machines cut at end: what was sent softly after that was heard, too.
func (p *Player) CutAt(resp response.ID, end playout.Position) playout.Position {
	if p.softEnd.resp == resp {
		return p.softEnd.at
	}
	return end
}

// Silence ends the sound of a response that is held and goes on softly.
func (p *Player) Silence() (out room.List) {
	s := p.soft
	if !s.on {
		return nil
	}
	p.out.Hold()
	p.endSoft()
	for _, id := range s.candidates {
		out.Send(p.Acknowledge(id))
	}
	if s.ready != 0 {
		p.AwaitReady(s.ready)
	}
	return out
}

// Answer answers the client's candidate, whose event is called id. opened says that a response is held for it. While that goes on softly, the answer waits for the silence.
func (p *Player) Answer(id string, opened bool) (out room.List) {
	if opened && p.soft.on && len(p.soft.candidates) < cap(p.claim.cut[:]) {
		p.soft.candidates = append(p.soft.candidates, id)
		return nil
	}
	out.Send(p.Acknowledge(id))
	return out
}
