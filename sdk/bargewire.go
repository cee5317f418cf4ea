package sdk

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/wire"
)

// acknowledged takes the server's word for an event that has no answer of its own.
func (s *Session) acknowledged(e *wire.AntiphonAck) {
	s.machinesTold(e.Machines)
	if e.Resume != "" && s.call != nil { // a page reads no headers of a WebSocket
		s.call.token = e.Resume
	}
	in := &s.interruption
	for i, event := range in.asked {
		if event == "" || event != e.Acknowledges {
			continue
		}
		// The number is the newest one that is kept there.
		c := in.candidate - (in.candidate-bargein.ID(i))%bargein.ID(len(in.asked))
		at := bargein.Mark(uint32(e.RTPTimestamp))
		if in.out.holder != nil {
			at = in.out.here()
		}
		s.bargeIn(bargein.Acked{Candidate: c, At: at})
		return
	}
}

// rejected: the candidate was no interruption.
func (s *Session) rejected(candidate int) {
	in := &s.interruption
	c := bargein.ID(max(candidate, 0))
	if c == 0 || in.steps == nil {
		return
	}
	if in.pending() == c {
		in.score.rejected(s.clock.Now())
		s.flow.tell(view.Rejected{}, in.suspects)
	}
	s.bargeIn(bargein.Rejected{Candidate: c})
}

func (s *Session) sendCandidate(f bargein.SendCandidate) {
	in := &s.interruption
	if !in.knows {
		return
	}
	e := &wire.AntiphonBargeInCandidate{Candidate: int(f.Candidate), ResponseID: in.name(f.Resp)}
	e.RTPTimestamp, e.ItemID, e.HeardMS = in.out.told(f.At)
	in.asked[f.Candidate%bargein.ID(len(in.asked))] = s.send(e, intent{kind: intentCandidate})
}

func (s *Session) sendReady(f bargein.SendReady) {
	in := &s.interruption
	if !in.knows {
		return
	}
	e := &wire.AntiphonBargeInReady{Candidate: int(f.Candidate)}
	e.RTPTimestamp, e.ItemID, e.HeardMS = in.out.told(f.At)
	s.send(e, intent{kind: intentCandidate})
}

func (s *Session) sendHeard(f bargein.SendHeard) {
	in := &s.interruption
	if !in.knows {
		return
	}
	e := &wire.AntiphonBargeInHeard{ResponseID: in.name(f.Resp)}
	e.RTPTimestamp, e.ItemID, e.HeardMS = in.out.told(f.At)
	s.send(e, intent{kind: intentCandidate})
}

func (in *interruption) name(n id.Response) string { return in.names[n%id.Response(len(in.names))] }

// told is how a mark is said on the wire.
func (o *output) told(at bargein.Mark) (rtp int, item string, heardMS int) {
	if heard, ok := o.place(at); ok {
		return 0, heard.ItemID, heard.MS
	}
	if o.lowerer != nil {
		return int(uint32(at)), "", 0
	}
	return 0, "", 0
}
