package sdk

// The sound of one peer, as the barge-in driver uses it: its level, whether it is held, and positions in it.

import "github.com/antiphon-rt/antiphon/coord/bargein"

// playout controls the agent's sound on one peer, which is a Ducker or a Rewinder. It also keeps the positions that the machine
// knows by number: the machine hands the numbers on and never looks into them.
type playout struct {
	ducker   Ducker // at most one of the two is set
	rewinder Rewinder

	positions [keptPositions]PlayedPosition // the kept positions, by number
	last      bargein.Position              // the newest number; 0 is "not known"
	pinned    bargein.Position              // this number is not used again

	held bool
}

// keptPositions is how many numbers are known at a time. A candidate uses three, and the machine keeps one for longer, which is
// pinned.
const keptPositions = 16

func newPlayout(p Peer) playout {
	if r, ok := p.(Rewinder); ok {
		if _, plays := p.(Player); plays {
			return playout{rewinder: r}
		}
	}
	d, _ := p.(Ducker)
	return playout{ducker: d}
}

// canDuck reports whether the peer's level can be set.
func (o *playout) canDuck() bool { return o.ducker != nil || o.rewinder != nil }

// here returns the position that the user hears now. known is false where nobody can say.
func (o *playout) here() (at PlayedPosition, known bool) {
	switch {
	case o.ducker != nil:
		return o.ducker.Position()
	case o.rewinder != nil:
		return o.rewinder.Position()
	}
	return at, false
}

// number keeps a position and returns its number; 0 for one that is not known.
func (o *playout) number(at PlayedPosition, known bool) bargein.Position {
	if !known {
		return 0
	}
	o.last++
	if o.pinned != 0 && o.last%keptPositions == o.pinned%keptPositions {
		o.last++
	}
	o.positions[o.last%keptPositions] = at
	return o.last
}

// position returns the position with this number. known is false for 0.
func (o *playout) position(n bargein.Position) (at PlayedPosition, known bool) {
	if n == 0 {
		return at, false
	}
	return o.positions[n%keptPositions], true
}

func (o *playout) setGain(gain float32) {
	if o.ducker != nil {
		o.ducker.SetGain(gain)
	} else if o.rewinder != nil {
		o.rewinder.SetGain(gain)
	}
}

// hold stops a Rewinder's playback.
func (o *playout) hold() {
	if o.rewinder != nil && !o.held {
		o.held = true
		o.rewinder.Hold()
	}
}

// resume lets a Rewinder play again, from this position where it is known.
func (o *playout) resume(from PlayedPosition, known bool) {
	if o.rewinder != nil && (known || o.held) {
		o.held = false
		o.rewinder.Resume(from)
	}
}

// until returns the sound from p to a later position in milliseconds; 0 where the two are not in the same sound.
func (p PlayedPosition) until(later PlayedPosition) int {
	if p.ItemID == "" && later.ItemID == "" {
		return max(int(int32(later.Timestamp-p.Timestamp))/rtpPerMS, 0)
	}
	if p.ItemID != later.ItemID || p.ContentIndex != later.ContentIndex {
		return 0
	}
	return max(later.MS-p.MS, 0)
}

// rtpPerMS is the clock of Opus in RTP: 48 kHz.
const rtpPerMS = 48
