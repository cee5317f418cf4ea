package session

import (
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
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
	o    *output
	span int
	text string
}

// voiceSays takes a piece of audio of clause n.
func (s *Session) voiceSays(r *reply, n uint32, pcm []int16) {
	if c, ok := r.saying[n]; ok && !r.over {
		sp := &c.o.it.audio[c.span]
		if sp.from < 0 {
			sp.from = r.audio - c.o.start
			sp.to = sp.from
		}
		sp.to += voice.Samples(len(pcm))
	}
	if r.dropped || r.over {
		return
	}
	r.audio += voice.Samples(len(pcm))
	if o := r.lastMessage(); o != nil && !o.it.cut {
		o.it.said += voice.Samples(len(pcm))
		if r.beside == nil {
			s.keepSound(o.it, pcm)
		}
	}
	if r.turn != nil {
		r.turn.times.once(&r.turn.times.firstAudio, s.now())
	}
	switch {
	case r.beside != nil:
		s.soundBeside(r, pcm)
		return
	case r.onAir:
		s.speaker.Write(pcm)
		return
	}
	r.backlog = append(r.backlog, pcm...)
	if !r.played {
		r.played = true
		s.makeWay()
		s.step(coord.OfPlayout{Event: playout.Begin{Resp: r.id}})
	}
}

// makeWay ends the reply before a new one where the client plays by itself: it has all of it, and what it gets now it
// plays after that. To wait would only be late, when it has emptied its player meanwhile.
func (s *Session) makeWay() {
	if e, mine := s.speaker.(*estimate); mine && s.audible() {
		s.drainedAt(e.gen)
	}
}

func (s *Session) clauseSaid(r *reply, n uint32) {
	c, ok := r.saying[n]
	if !ok {
		return
	}
	delete(r.saying, n)
	sp := &c.o.it.audio[c.span]
	if sp.from < 0 { // a clause without a sound
		sp.from = r.audio - c.o.start
		sp.to = sp.from
	}
	sp.done = true
}
