package sdk

// The protocol's barge-in events: what the client sends, and the server's answers.

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/wire"
)

// acknowledged takes antiphon.ack, the answer to an event that has no answer of its own: antiphon.hello, or a candidate.
func (s *Session) acknowledged(e *serverEvent) {
	s.machinesTold(e.machines)
	if e.resume != "" && s.call != nil { // a page cannot read the headers of a WebSocket
		s.call.token = e.resume
	}
	in := &s.barge
	for i, event := range in.asked {
		if event == "" || event != e.acknowledges {
			continue
		}
		// Of the candidates that share this slot, the newest one is meant.
		c := in.candidate - (in.candidate-bargein.ID(i))%bargein.ID(len(in.asked))
		at, known := PlayedPosition{Timestamp: uint32(e.rtp)}, e.rtp != 0
		if in.playout.rewinder != nil {
			at, known = in.playout.here()
		}
		s.bargeIn(bargein.Acked{Candidate: c, At: in.playout.number(at, known)})
		return
	}
}

// rejected takes antiphon.barge_in.rejected: the candidate was no interruption.
func (s *Session) rejected(candidate int) {
	in := &s.barge
	c := bargein.ID(max(candidate, 0))
	if c == 0 || in.machine == nil {
		return
	}
	if in.pending() == c {
		in.stats.rejected(s.clock.Now())
		s.dialog.tell(view.Rejected{}, in.suspects)
	}
	s.bargeIn(bargein.Rejected{Candidate: c})
}

// sendCandidate reports a candidate to a server that accepts them.
func (s *Session) sendCandidate(f bargein.SendCandidate) {
	in := &s.barge
	if !in.serverTakes {
		return
	}
	e := newJSON().Key("candidate").Int(int64(f.Candidate)).Key("response_id").Text(in.responses.name(f.Resp))
	in.asked[f.Candidate%bargein.ID(len(in.asked))] = s.send("antiphon.barge_in.candidate", in.playout.writePosition(e, f.At), intent{kind: intentCandidate})
}

// sendReady tells the server that the user hears the silence, and up to which position they heard the response at full level.
func (s *Session) sendReady(f bargein.SendReady) {
	in := &s.barge
	if !in.serverTakes {
		return
	}
	e := newJSON().Key("candidate").Int(int64(f.Candidate))
	s.send("antiphon.barge_in.ready", in.playout.writePosition(e, f.At), intent{kind: intentCandidate})
}

// sendHeard tells the server how far the user has heard an interrupted response.
func (s *Session) sendHeard(f bargein.SendHeard) {
	in := &s.barge
	if !in.serverTakes {
		return
	}
	e := newJSON().Key("response_id").Text(in.responses.name(f.Resp))
	s.send("antiphon.barge_in.heard", in.playout.writePosition(e, f.At), intent{kind: intentCandidate})
}

// writePosition writes the position with this number as members of an event. What is not known is left out.
func (o *playout) writePosition(w *wire.Writer, n bargein.Position) *wire.Writer {
	at, _ := o.position(n)
	if o.ducker != nil {
		return writeUnlessZero(w, "rtp_timestamp", int64(at.Timestamp))
	}
	if at.ItemID != "" {
		w.Key("item_id").Text(at.ItemID)
	}
	return writeUnlessZero(w, "heard_ms", int64(at.MS))
}
