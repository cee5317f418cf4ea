package sdk

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
)

// output is what can be done with the agent's sound on one peer: a Ducker's marks are timestamps, a Rewinder's are numbers
// of positions that are kept here.
type output struct {
	lowerer Ducker // one of both at most
	holder  Rewinder

	places []PlayedPosition // a Rewinder's, by mark; keptPlaces of them
	last   bargein.Mark

	level Level
	held  bool
}

// keptPlaces is more than a candidate needs: three.
const keptPlaces = 16

func newOutput(p Peer) output {
	if h, ok := p.(Rewinder); ok {
		if _, plays := p.(Player); plays {
			return output{holder: h, places: make([]PlayedPosition, keptPlaces)}
		}
	}
	l, _ := p.(Ducker)
	return output{lowerer: l}
}

// able: the agent can be lowered.
func (o *output) able() bool { return o.lowerer != nil || o.holder != nil }

// here is the place that the person hears now; 0 where that is not known.
func (o *output) here() bargein.Mark {
	switch {
	case o.lowerer != nil:
		if at, ok := o.lowerer.Mark(); ok {
			return bargein.Mark(at)
		}
	case o.holder != nil:
		if at, ok := o.holder.Position(); ok {
			o.last++
			o.places[int(o.last)%keptPlaces] = at
			return o.last
		}
	}
	return 0
}

// place is what a Rewinder's mark stands for.
func (o *output) place(at bargein.Mark) (PlayedPosition, bool) {
	if o.holder == nil || at == 0 {
		return PlayedPosition{}, false
	}
	return o.places[int(at)%keptPlaces], true
}

func (o *output) setLevel(l Level) {
	o.level = l
	if o.lowerer != nil {
		o.lowerer.SetLevel(l)
	} else if o.holder != nil {
		o.holder.SetLevel(l)
	}
}

// hold stops a Rewinder's playback.
func (o *output) hold() {
	if o.holder != nil && !o.held {
		o.held = true
		o.holder.Hold()
	}
}

// goOn lets a Rewinder play again, from at where that is known.
func (o *output) goOn(at bargein.Mark) {
	from, known := o.place(at)
	if known || o.held {
		o.held = false
		o.holder.Resume(from)
	}
}

// between is the sound from one place to another in milliseconds, 0 where that cannot be said.
func (o *output) between(from, to bargein.Mark) int {
	if from == 0 || to == 0 {
		return 0
	}
	if o.lowerer != nil {
		return max(int(int32(to-from))/rtpPerMS, 0)
	}
	a, _ := o.place(from)
	b, _ := o.place(to)
	if a.ItemID != b.ItemID || a.ContentIndex != b.ContentIndex {
		return 0
	}
	return max(b.MS-a.MS, 0)
}

// rtpPerMS is the clock of Opus in RTP: 48 kHz.
const rtpPerMS = 48
