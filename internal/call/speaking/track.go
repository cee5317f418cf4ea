package speaking

// The audio of one response: its parts, its progress, and the events that carry it to a client that plays by itself.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxDelta is the most audio in one event: 200 ms, in samples.
const maxDelta = room.OutputRate / 5

// progress is how far a track has come. It never goes back.
type progress uint8

const (
	silent  progress = iota // no audio is generated yet
	waiting                 // there is audio, and the playout machine knows of it
	playing                 // the output plays the track, or did until the track was dropped
	sent                    // the track was sent to its end
)

// Track is the audio of one response. It belongs to the session's goroutine.
type Track struct {
	resp    response.ID
	name    string        // the response's id for the client
	credit  *Credit       // nil until the response's body runs
	encoder *room.Encoder // the encoder for a client that plays by itself; nil where the server paces
	parts   []part

	progress progress
	dropped  bool // the rest of the audio is not sent any more
	complete bool // no more audio will be generated

	gen     uint64        // the first segment
	length  voice.Samples // how much audio was generated
	backlog []int16       // the audio that was generated before the output played the track
}

// part is where the audio of one output item begins.
type part struct {
	item  machine.Item
	name  string // the item's id for the client
	index int    // its output_index
	start voice.Samples
}

// AddPart notes that the audio generated from now on belongs to a further output item.
func (t *Track) AddPart(item machine.Item, name string, index int) {
	t.parts = append(t.parts, part{item: item, name: name, index: index, start: t.length})
}

// Length returns how much audio was generated.
func (t *Track) Length() voice.Samples { return t.length }

// Played reports whether the output has ever played the track.
func (t *Track) Played() bool { return t.progress >= playing }

// Begun reports whether audio was generated and the playout machine knows of it.
func (t *Track) Begun() bool { return t.progress > silent }

// ItemPosition returns which item of the response is at position at of the track, and how many milliseconds into the item that is.
func (t *Track) ItemPosition(at voice.Samples) playout.Position {
	var m playout.Position
	for _, p := range t.parts {
		if p.start <= at {
			m = playout.Position{Item: p.item, MS: uint32((at - p.start).Milliseconds(room.OutputRate))}
		}
	}
	return m
}

// Position is the inverse of ItemPosition: it returns a position of the track, and 0 for an item that the track does not have.
func (t *Track) Position(m playout.Position) voice.Samples {
	i := slices.IndexFunc(t.parts, func(p part) bool { return p.item == m.Item })
	if i < 0 {
		return 0
	}
	return t.parts[i].start + voice.SamplesIn(int64(m.MS), room.OutputRate)
}

// Whole reports whether end is the track's end and the track was sent up to it: nothing is to be cut then.
func (t *Track) Whole(end playout.Position) bool {
	return t.progress == sent && end == t.ItemPosition(t.length)
}

// Deltas returns the events that carry pcm, a piece of the newest item's audio, to a client that plays by itself. Sending
// them gives the track's credit back.
func (t *Track) Deltas(pcm []int16) room.List {
	if len(t.parts) == 0 {
		return nil
	}
	var out room.List
	c := t.credit
	for piece := range slices.Chunk(pcm, maxDelta) {
		out = append(out, room.Send{Event: t.delta(t.encoder.Encode(piece)), Sent: func() {
			if c != nil {
				c.upTo(c.sent + voice.Samples(len(piece)))
			}
		}})
	}
	return out
}

// LastDelta returns the event with the audio of the newest item that the encoder has kept back; nil where there is none.
func (t *Track) LastDelta() room.List {
	if t.encoder == nil || t.dropped || len(t.parts) == 0 {
		return nil
	}
	rest := t.encoder.Rest()
	if len(rest) == 0 {
		return nil
	}
	return room.List{room.Send{Event: t.delta(rest)}}
}

func (t *Track) delta(audio []byte) wire.ServerEvent {
	p := t.parts[len(t.parts)-1]
	return &wire.ResponseOutputAudioDelta{ResponseID: t.name, ItemID: p.name, OutputIndex: p.index, Delta: audio}
}
