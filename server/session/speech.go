package session

import (
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/voice"
)

// A reply's text on its way through the voice.

// enqueue gives a clause to the voice, by way of the synthesis machine.
func (s *Session) enqueue(r *reply, text string) {
	o := r.message
	if o == nil {
		return
	}
	n := r.clauses
	r.clauses++
	r.saying[n] = spoken{o, o.it.AddClause(text), text}
	s.tellVoice(r, synthesis.Enqueue{Clause: n})
}

// spoken is a clause on its way through the voice.
type spoken struct {
	o    *outputItem
	span int
	text string
}

// voiceSays takes a piece of audio of clause n.
func (s *Session) voiceSays(r *reply, n uint32, pcm []int16) {
	if c, ok := r.saying[n]; ok && !r.over {
		c.o.it.SpokenClause(c.span, r.track.Length()-c.o.start, voice.Samples(len(pcm)))
	}
	if r.track.Dropped() || r.over {
		return
	}
	if o := r.lastMessage(); o != nil {
		s.conversation.AddAudio(o.it, pcm)
	}
	if r.turn != nil {
		r.turn.FirstAudio(s.now())
	}
	if r.beside != nil {
		s.do(s.player.WriteOutOfBand(r.track, pcm))
		return
	}
	s.playing(s.player.Write(r.track, pcm, s.audible()))
}

func (s *Session) clauseSaid(r *reply, n uint32) {
	c, ok := r.saying[n]
	if !ok {
		return
	}
	delete(r.saying, n)
	c.o.it.EndClause(c.span, r.track.Length()-c.o.start)
}
