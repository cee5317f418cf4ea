// Package playback has what a client knows of the agent's sound: which responses were heard lately, and positions in the sound. It
// plays nothing. The machine of a barge-in knows responses and positions by number, and never looks into them.
package playback

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Position is a position in the agent's sound. Its fields are those of sdk.PlayedPosition.
type Position struct {
	Timestamp    uint32
	ItemID       string
	ContentIndex int
	MS           int
}

// rtpPerMS is the clock of Opus in RTP: 48 kHz.
const rtpPerMS = 48

// Until returns the sound from p to a later position in milliseconds; 0 where the two are not in the same sound.
func (p Position) Until(later Position) int {
	if p.ItemID == "" && later.ItemID == "" {
		return max(int(int32(later.Timestamp-p.Timestamp))/rtpPerMS, 0)
	}
	if p.ItemID != later.ItemID || p.ContentIndex != later.ContentIndex {
		return 0
	}
	return max(later.MS-p.MS, 0)
}

// keptPositions is how many numbers are known at a time. A candidate uses three, and the machine keeps one for longer, which is
// pinned.
const keptPositions = 16

// Positions gives numbers to positions. Its zero value knows none.
type Positions struct {
	kept   [keptPositions]Position // by number
	last   bargein.Position        // the newest number; 0 is "not known"
	pinned bargein.Position        // this number is not used again
}

// Number keeps a position and returns its number; 0 for one that is not known.
func (p *Positions) Number(at Position, known bool) bargein.Position {
	if !known {
		return 0
	}
	p.last++
	if p.pinned != 0 && p.last%keptPositions == p.pinned%keptPositions {
		p.last++
	}
	p.kept[p.last%keptPositions] = at
	return p.last
}

// Pin keeps this number until another one is pinned.
func (p *Positions) Pin(n bargein.Position) { p.pinned = n }

// At returns the position with this number. known is false for 0.
func (p *Positions) At(n bargein.Position) (at Position, known bool) {
	if n == 0 {
		return at, false
	}
	return p.kept[n%keptPositions], true
}

// Responses gives numbers to the responses that were heard last. Its zero value knows none.
type Responses struct {
	// Heard is the response that is heard now, as the server or the player says; 0 when none is.
	Heard machine.Response

	last machine.Response // the number of the newest; 0 before the first
	ids  [8]string        // the protocol's ids of the last ones, by number
}

// Started notes that this response is heard from now on. The id may be empty, and the same response may start again.
func (r *Responses) Started(name string) {
	if r.Heard == 0 || r.ID(r.Heard) != name {
		r.last++
		r.Heard = r.last
		r.ids[r.last%machine.Response(len(r.ids))] = name
	}
}

// ID returns the id of a response that was heard lately.
func (r *Responses) ID(n machine.Response) string { return r.ids[n%machine.Response(len(r.ids))] }

// Number returns the number of a response that was heard lately, 0 for any other.
func (r *Responses) Number(name string) machine.Response {
	oldest := max(int(r.last)-len(r.ids)+1, 1)
	for n := int(r.last); n >= oldest; n-- {
		if r.ids[n%len(r.ids)] == name {
			return machine.Response(n)
		}
	}
	return 0
}
