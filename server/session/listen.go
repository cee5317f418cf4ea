package session

// The actor's part of listening: it gives the user's audio to the Input and takes the turn events that come of it.

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/input"
)

// Events of the timers below.
type (
	// audioTimeout checks whether audio still comes while turn is open.
	audioTimeout struct{ turn turn.ID }
	// verdictTimeout ends the wait for a verdict on a candidate.
	verdictTimeout struct{ turn turn.ID }
	// idleTimeout is posted when idle_timeout_ms has passed since timer gen was set.
	idleTimeout struct{ gen uint64 }
)

// audio takes the client's audio: mono, format.InputRate.
func (s *Session) audio(pcm []int16) {
	s.input.Append(pcm, s.now())
	s.listen()
}

// appended takes audio that came in an event.
func (s *Session) appended(audio []byte) {
	if f := s.input.AppendEncoded(s.settings.InputFormat(), audio, s.now()); f != nil {
		s.report(f)
		return
	}
	s.listen()
}

// commit takes the client's input_audio_buffer.commit.
func (s *Session) commit() {
	s.input.EndEncoded(s.now())
	s.listen()
	if f := s.input.CheckCommit(); f != nil {
		s.report(f)
		return
	}
	s.step(coord.OfTurn{Event: turn.Commit{}})
}

// listen acts on each frame of the audio that was appended, in order.
func (s *Session) listen() {
	for r, ok := s.input.Next(s.inputView()); ok; r, ok = s.input.Next(s.inputView()) {
		if r.Frame != nil {
			s.recognise(r.Frame)
		}
		if r.Failure != nil {
			s.report(r.Failure)
		}
		s.turnEvent(r.Event)
	}
}

// inputView returns what the Input reads of the session's state.
func (s *Session) inputView() input.View {
	_, degraded := s.state.Live.(transcription.Unavailable)
	return input.View{
		Turn: s.state.Turn, AgentAudible: s.audible(), NoLiveTranscription: degraded,
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
	if turn.Open(s.state.Turn) != t {
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
	s.stopTimer("idle")
}
