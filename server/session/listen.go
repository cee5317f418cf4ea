package session

// The actor's part of listening: it gives the user's audio to the Input and takes the turn events that come of it.

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/input"
)

// audio takes the client's audio: mono, format.InputRate.
func (s *Session) audio(pcm []int16) {
	s.input.Append(pcm, s.now())
	s.listen(origin{})
}

// appendAudio takes audio that came in an event.
func (s *Session) appendAudio(o origin, audio []byte) {
	if f := s.input.AppendEncoded(s.settings.InputFormat(), audio, s.now()); f != nil {
		s.fail(o, f)
		return
	}
	s.listen(o)
}

// commitAudio takes the client's input_audio_buffer.commit.
func (s *Session) commitAudio(o origin) {
	s.input.EndEncoded(s.now())
	s.listen(o)
	if f := s.input.CheckCommit(); f != nil {
		s.fail(o, f)
		return
	}
	s.stepFor(o, coord.OfTurn{Event: turn.Commit{}})
}

// listen acts on each frame of the audio that was appended, in order.
func (s *Session) listen(o origin) {
	for r, ok := s.input.Next(s.inputView()); ok; r, ok = s.input.Next(s.inputView()) {
		if r.Frame != nil {
			s.recognise(r.Frame)
		}
		if r.Failure != nil {
			s.fail(o, r.Failure)
		}
		s.turnEvent(r.Event)
	}
}

// inputView returns what the Input reads of the session's state.
func (s *Session) inputView() input.View {
	_, degraded := s.machines.state.Live.(transcription.Unavailable)
	return input.View{
		Turn: s.machines.state.Turn, AgentAudible: s.audible(), NoLiveTranscription: degraded,
		FarEnd: s.can.FarEndReader, Path: s.can.RoundTripper,
	}
}

// turnEvent steps an event of the Input; nil is none.
func (s *Session) turnEvent(e turn.Event) {
	if e != nil {
		s.step(coord.OfTurn{Event: e})
	}
}

// checkAudio ends turn t if its client sends nothing any more, not even silence.
func (s *Session) checkAudio(t turn.ID) {
	if turn.Open(s.machines.state.Turn) != t {
		return
	}
	if left := s.input.AudioTimeoutIn(s.now()); left > 0 {
		s.after("audio", left, audioTimeout{t})
		return
	}
	s.step(coord.OfTurn{Event: turn.Silence{Turn: t}})
}

// armIdle starts the timer of idle_timeout_ms: at the end of the playback or of the last turn.
func (s *Session) armIdle() {
	s.stopIdle()
	if d, ok := s.input.IdleTimeout(); ok && !s.audible() {
		s.after("idle", d, idleTimeout{s.idle})
	}
}

// stopIdle stops that timer. An event of it that is in the queue already is stale.
func (s *Session) stopIdle() {
	s.idle++
	s.timers.Stop("idle")
}
