package session

import (
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/wire"
)

// drainLater reports the end of a segment that a client plays by itself.
func (s *Session) drainLater(gen uint64, in time.Duration) { s.after("drained", in, drained{gen}) }

// sendAudio gives audio to a client that plays it by itself. What is on its way lets the voice generate on.
func (s *Session) sendAudio(pcm []int16) {
	r, c := s.onAir, s.credit.Load()
	if r.lastMessage() == nil {
		return
	}
	s.firstPacket()
	s.sendPCM(r, c, pcm)
}

// sendPCM gives audio of r's message to a client that plays it by itself; c is given back what is on its way.
func (s *Session) sendPCM(r *reply, c *credit, pcm []int16) {
	o := r.lastMessage()
	for piece := range slices.Chunk(pcm, maxDelta) {
		s.sendDelta(r, o, r.encoder.Encode(piece), func() {
			if c != nil {
				c.upTo(c.sent + int64(len(piece)))
			}
		})
	}
}

func (s *Session) sendDelta(r *reply, o *output, audio []byte, sent func()) {
	e := &wire.ResponseOutputAudioDelta{ResponseID: r.object.ID, ItemID: o.it.ID, OutputIndex: o.index, Delta: audio}
	e.SetID(newID("event_"))
	s.sendEvent(call.Encode(e), sent)
}

// lastAudio sends what the conversion to the client's format has kept back of o's audio.
func (s *Session) lastAudio(r *reply, o *output) {
	if r.encoder == nil || r.dropped {
		return
	}
	if rest := r.encoder.Rest(); len(rest) > 0 {
		s.sendDelta(r, o, rest, nil)
	}
}

// maxDelta is the audio in one event at most: 200 ms.
const maxDelta = format.OutputRate / 5
