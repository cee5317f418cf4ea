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
	o.it.audio = append(o.it.audio, span{text: text, from: -1})
	r.saying[n] = spoken{o, len(o.it.audio) - 1, text}
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
		sp := &c.o.it.audio[c.span]
		if sp.from < 0 {
			sp.from = r.track.Length() - c.o.start
			sp.to = sp.from
		}
		sp.to += voice.Samples(len(pcm))
	}
	if r.track.Dropped() || r.over {
		return
	}
	if o := r.lastMessage(); o != nil && !o.it.cut {
		o.it.said += voice.Samples(len(pcm))
		if r.beside == nil {
			s.keepSound(o.it, pcm)
		}
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
	sp := &c.o.it.audio[c.span]
	if sp.from < 0 { // a clause without a sound
		sp.from = r.track.Length() - c.o.start
		sp.to = sp.from
	}
	sp.done = true
}
