package bargein

// What happens to a prediction: findings of the detector, positions of the playback, and events of the server.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
)

// Onset makes a candidate of a speech onset over the agent, unless one waits already. m.At is where the user heard the response when
// the speech began.
func (p *Prediction) Onset(m Moment) []Action {
	atFull := true // the response was at full level until now
	switch p.State().(type) {
	case bargein.Silent, bargein.Closed:
		return nil
	case bargein.Playing, bargein.Ducked, bargein.Silenced, bargein.Restored:
	case bargein.Unanswered:
		atFull = false
		if p.Responses.Heard == 0 {
			return nil
		}
	}
	if p.Waiting() {
		return nil
	}
	p.newest++
	p.measured.candidateBegan(m.Now)
	n := p.positions.Number(m.At, m.Known)
	if atFull {
		p.full = m
		p.positions.Pin(n) // the machine keeps this number until the response is at full level again
	}
	p.do(Action{Do: ExpectVerdict})
	p.step(bargein.Onset{Candidate: p.newest, At: n}, m)
	return p.done()
}

// Sustained notes that the speech of the candidate lasts. The agent falls silent where the missed sound can be played again.
func (p *Prediction) Sustained(m Moment) []Action {
	c := p.pending()
	if c == 0 {
		return nil
	}
	p.do(Action{Do: ExpectInterruption})
	if p.ServerTakes || p.rewinds {
		p.step(bargein.Sustained{Candidate: c}, m)
	}
	return p.done()
}

// SpeechEnded notes that the speech of the candidate has ended.
func (p *Prediction) SpeechEnded(m Moment) []Action {
	if c := p.pending(); c != 0 {
		p.do(Action{Do: SpeechOver})
		p.step(bargein.VoiceEnded{Candidate: c}, m)
	}
	return p.done()
}

// Passed notes that the user has heard a position.
func (p *Prediction) Passed(at playback.Position, m Moment) []Action {
	if at != p.awaited.at || p.Machine == nil {
		return nil
	}
	if c := p.awaited.candidate; c != 0 {
		p.awaited.candidate = 0
		p.step(bargein.Passed{Candidate: c}, m)
	} else if p.returning {
		p.returned(m)
	}
	return p.done()
}

// WentBack notes that the server has gone back in the response: what it plays again begins at a position.
func (p *Prediction) WentBack(at playback.Position) []Action {
	if p.returning && p.awaited.candidate == 0 { // a silence that is awaited comes later: it says the same
		p.awaited = awaited{at: at}
		p.do(Action{Do: Await, At: at})
	}
	return p.done()
}

// returned plays the agent at full level again, unless another candidate waits: what the user has missed begins.
func (p *Prediction) returned(m Moment) {
	if p.returning = false; !p.Waiting() {
		p.Deadline = deadline.Never
		p.take(bargein.Restore{}, m)
	}
}

// Reported notes the id of the event that reported a candidate; "" if it could not be sent.
func (p *Prediction) Reported(candidate int, event string) {
	p.reported[candidate%len(p.reported)] = event
}

// Acknowledged takes the server's answer to an event. timestamp is the first packet in which the server sends silence; 0 where the
// server does not say.
func (p *Prediction) Acknowledged(event string, timestamp int, m Moment) []Action {
	for i, reported := range p.reported {
		if reported == "" || reported != event {
			continue
		}
		// Of the candidates that share this slot, the newest one is meant.
		c := p.newest - (p.newest-bargein.ID(i))%bargein.ID(len(p.reported))
		at, known := playback.Position{Timestamp: uint32(timestamp)}, timestamp != 0
		if p.rewinds {
			at, known = m.At, m.Known
		}
		p.step(bargein.Acked{Candidate: c, At: p.positions.Number(at, known)}, m)
		break
	}
	return p.done()
}

// RejectedByServer notes that the candidate with this number was no interruption.
func (p *Prediction) RejectedByServer(candidate int, m Moment) []Action {
	c := bargein.ID(max(candidate, 0))
	if c == 0 || p.Machine == nil {
		return nil
	}
	if p.pending() == c {
		p.measured.shown.Rejected++
		p.measured.notConfirmed(m.Now)
		p.do(Action{Do: Rejected})
	}
	p.step(bargein.Rejected{Candidate: c}, m)
	return p.done()
}

// TimedOut gives up a candidate without a verdict. Where the client plays the sound itself, that is a rejection, since nothing else is
// to come.
func (p *Prediction) TimedOut(m Moment) []Action {
	p.Deadline = deadline.Never
	if p.Machine == nil {
		return nil
	}
	if p.returning { // the server does not go back
		p.returned(m)
	}
	if p.pending() == p.expiring {
		p.measured.shown.Expired++
		p.measured.notConfirmed(m.Now)
	}
	p.step(bargein.Expired{Candidate: p.expiring}, m)
	if p.rewinds {
		p.step(bargein.Rejected{Candidate: p.expiring}, m)
	}
	return p.done()
}

// Played tells the machine which response the user hears, if that has changed.
func (p *Prediction) Played(now time.Duration) []Action {
	m := Moment{Now: now} // the position does not matter: nothing is held
	for range 2 {
		heard := p.Responses.Heard
		switch s := p.State().(type) {
		case bargein.Silent:
			if heard > s.Last {
				p.step(bargein.Began{Resp: heard}, m)
			}
		case bargein.Playing:
			if heard > s.Resp {
				p.step(bargein.Began{Resp: heard}, m)
			} else if heard == 0 {
				p.step(bargein.Ended{Resp: s.Resp}, m)
			}
		case bargein.Unanswered:
			if heard > s.Resp {
				p.step(bargein.Began{Resp: heard}, m)
			}
		case bargein.Ducked, bargein.Silenced, bargein.Restored, bargein.Closed:
		}
	}
	return p.done()
}

// Interrupted notes that the newest response that is heard, or that the candidate is about, was interrupted. spoken says that the
// server heard speech; otherwise the application asked for it.
func (p *Prediction) Interrupted(spoken bool, m Moment) []Action {
	concerned := p.Responses.Heard
	if p.Waiting() {
		newest, _ := responseOf(p.State())
		concerned = max(newest, concerned)
	}
	return p.cut(concerned, spoken, m)
}

// Cut notes that the server has cut off the response with this id. spoken is as in Interrupted.
func (p *Prediction) Cut(response string, spoken bool, m Moment) []Action {
	return p.cut(p.Responses.Number(response), spoken, m)
}

func (p *Prediction) cut(n machine.Response, spoken bool, m Moment) []Action {
	newest, cut := responseOf(p.State())
	if n == 0 || p.Machine == nil || n < newest || n == newest && cut {
		return nil
	}
	if spoken {
		p.measured.confirmed(p.Waiting(), m.Now)
	}
	at := m
	if p.silenced.Known {
		at = p.silenced
	}
	p.step(bargein.Confirmed{Resp: n, At: p.positions.Number(at.At, at.Known)}, m)
	return p.done()
}

// responseOf returns the newest response that a state knows, and whether the server has cut it off.
func responseOf(s bargein.State) (newest machine.Response, cut bool) {
	switch s := s.(type) {
	case bargein.Silent:
		return s.Last, s.Cut
	case bargein.Playing:
		return s.Resp, false
	case bargein.Ducked:
		return s.Resp, false
	case bargein.Silenced:
		return s.Resp, false
	case bargein.Restored:
		return s.Resp, false
	case bargein.Unanswered:
		return s.Resp, false
	case bargein.Closed:
	}
	return 0, true
}

// Close ends the prediction for its peer, and restores the level of the agent there.
func (p *Prediction) Close(m Moment) []Action {
	if p.Machine != nil {
		p.step(bargein.Close{}, m)
	}
	return p.done()
}
