package transcription

// The monitor of the machine: what it remembers of earlier steps.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Seen is what the monitor remembers of earlier steps.
type Seen struct {
	Stream   machine.Turn // the turn whose live stream was asked for or is open; 0 is none
	Ready    bool         // this stream is open
	EOU      bool         // the back end has reported the end of its utterance, and no words came after it
	Due      machine.Turn // the turn whose audio has ended and whose text has not come; 0 is none
	Whole    bool         // this text comes from decoding the whole audio
	Degraded bool
}

// Event returns what the monitor remembers after the event of step, before the effects. A broken or refused stream has ended.
func (g Seen) Event(step edge) Seen {
	switch e := step.Event.(type) {
	case Ready:
		g.Ready = g.Ready || e.Turn == g.Stream && g.Stream != 0
	case EOU:
		g.EOU = g.EOU || g.Ready && e.Turn == g.Stream
	case Resumed:
		g.EOU = g.EOU && e.Turn != g.Stream
	case Refuse:
		if e.Turn == g.Stream && (!g.Ready || g.Due == g.Stream) {
			g = g.left()
		}
	case Failed:
		if e.Turn == g.Stream {
			g = g.left()
		}
	case Done:
		if e.Turn == g.Stream && g.Due == g.Stream {
			g = g.left()
		}
	case Open, Finish, Decode, Abandon, Shutdown:
	}
	return g
}

func (g Seen) left() Seen {
	g.Stream, g.Ready, g.EOU = 0, false, false
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f := f.(type) {
	case OpenStream:
		g.Stream, g.Ready, g.EOU = f.Turn, false, false
	case CloseInput:
		g.Due, g.Whole = f.Turn, false
	case DecodeWhole:
		g.Due, g.Whole = f.Turn, true
	case CloseStream:
		g = g.left()
	case Degrade:
		g.Degraded = true
	case DeliverText, DeliverFailure:
		g.Due, g.Whole = 0, false
	}
	return g
}
