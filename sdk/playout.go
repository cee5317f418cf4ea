package sdk

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
)

// playout is what can be done with the agent's sound on one peer: a Ducker's marks are timestamps, a Rewinder's are numbers
// of positions that are kept here.
type playout struct {
	ducker   Ducker // one of both at most
	rewinder Rewinder

	places []PlayedPosition // a Rewinder's, by mark; keptPlaces of them
	last   bargein.Mark

	level Level
	held  bool
}

// keptPlaces is more than a candidate needs: three.
const keptPlaces = 16

func newPlayout(p Peer) playout {
	if h, ok := p.(Rewinder); ok {
		if _, plays := p.(Player); plays {
			return playout{rewinder: h, places: make([]PlayedPosition, keptPlaces)}
		}
	}
	l, _ := p.(Ducker)
	return playout{ducker: l}
}

// canDuck: the agent can be lowered.
func (o *playout) canDuck() bool { return o.ducker != nil || o.rewinder != nil }

// here is the place that the person hears now; 0 where that is not known.
func (o *playout) here() bargein.Mark {
	switch {
	case o.ducker != nil:
		if at, ok := o.ducker.Mark(); ok {
			return bargein.Mark(at)
		}
	case o.rewinder != nil:
		if at, ok := o.rewinder.Position(); ok {
			o.last++
			o.places[int(o.last)%keptPlaces] = at
			return o.last
		}
	}
	return 0
}

// place is what a Rewinder's mark stands for.
func (o *playout) place(at bargein.Mark) (PlayedPosition, bool) {
	if o.rewinder == nil || at == 0 {
		return PlayedPosition{}, false
	}
	return o.places[int(at)%keptPlaces], true
}

func (o *playout) setLevel(l Level) {
	o.level = l
	if o.ducker != nil {
		o.ducker.SetLevel(l)
	} else if o.rewinder != nil {
		o.rewinder.SetLevel(l)
	}
}

// hold stops a Rewinder's playback.
func (o *playout) hold() {
	if o.rewinder != nil && !o.held {
		o.held = true
		o.rewinder.Hold()
	}
}

// resume lets a Rewinder play again, from at where that is known.
func (o *playout) resume(at bargein.Mark) {
	from, known := o.place(at)
	if known || o.held {
		o.held = false
		o.rewinder.Resume(from)
	}
}

// between is the sound from one place to another in milliseconds, 0 where that cannot be said.
func (o *playout) between(from, to bargein.Mark) int {
	if from == 0 || to == 0 {
		return 0
	}
	if o.ducker != nil {
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
