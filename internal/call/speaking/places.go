package speaking

// Where the words of a response are in its audio, and which packets have that audio: from both a client knows which words are heard.

import (
	"slices"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// audible is the level from which a sample counts as speech: -44 dBFS. Synthesizers begin and end their pieces with silence.
const audible = 200

// sounding is the part of a clause's audio that is not silent, as positions in the item's audio. It is empty while from is negative.
type sounding struct{ from, to voice.Samples }

// soundingPart returns the part of pcm that is not silent; two zeros if all is.
func soundingPart(pcm []int16) (from, to int) {
	heard := func(v int16) bool { return v < -audible || v > audible }
	if from = slices.IndexFunc(pcm, heard); from < 0 {
		return 0, 0
	}
	for to = len(pcm); !heard(pcm[to-1]); to-- {
	}
	return from, to
}

// place returns the event with which a client places the next characters of o in its audio. to is 0 while their audio is being made.
func (g *Generator) place(r *Response, o *outputItem, characters int, from, to voice.Samples) (out room.List) {
	if !g.Settings.Client.Extended || r.OutOfBand() || !r.spoken {
		return nil
	}
	ms := func(at voice.Samples) int { return int(at.Milliseconds(room.OutputRate)) }
	out.Send(&wire.AntiphonResponsePiece{
		ResponseID: r.object.ID, ItemID: o.item.ID, StartMS: ms(o.start), FirstCharacter: o.said, Characters: characters,
		AudioStartMS: ms(from), AudioEndMS: ms(to),
	})
	return out
}

// clauseSounds takes audio of a clause, which begins at position at of the item.
func (g *Generator) clauseSounds(r *Response, e Audio, at voice.Samples) room.List {
	if e.To == 0 {
		return nil
	}
	c := r.text.saying[e.Clause]
	begins := c.sounds.from < 0
	if begins {
		c.sounds.from = at + voice.Samples(e.From)
	}
	c.sounds.to = at + voice.Samples(e.To)
	r.text.saying[e.Clause] = c
	if !begins {
		return nil
	}
	return g.place(r, c.item, utf8.RuneCountInString(c.text), c.sounds.from, 0)
}

// clauseSaid notes that all audio of clause n has been generated.
func (g *Generator) clauseSaid(r *Response, n uint32) (out room.List) {
	c, ok := r.text.saying[n]
	if !ok {
		return nil
	}
	delete(r.text.saying, n)
	end := r.track.Length() - c.item.start
	c.item.item.EndClause(c.span, end)
	characters := utf8.RuneCountInString(c.text)
	if c.sounds.from < 0 { // it has no sound, for example because it is a mark
		c.sounds = sounding{end, end}
	}
	if !r.track.dropped && !r.closed() {
		out = g.place(r, c.item, characters, c.sounds.from, max(c.sounds.to, 1))
	}
	c.item.said += characters
	return out
}

// Playing returns the event that says which packet has which audio of the response on air, nil where nothing plays over WebRTC. held says
// that the response stands still.
func (p *Player) Playing(held bool) wire.ServerEvent {
	if p.able.Timeline == nil || p.onAir == nil {
		return nil
	}
	ts, _ := p.able.Timeline.FirstSilent()
	at, ok := p.able.Timeline.PositionAt(ts)
	if !ok || at.Gen < p.onAir.gen {
		return nil
	}
	return &wire.AntiphonResponsePlaying{
		ResponseID: p.onAir.name, AudioMS: int(at.At.Milliseconds(room.OutputRate)), RTPTimestamp: int(ts), Held: held,
	}
}
