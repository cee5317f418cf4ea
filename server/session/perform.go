package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/action"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/server/session/input"
	"github.com/antiphon-rt/antiphon/server/session/settings"
	"github.com/antiphon-rt/antiphon/wire"
)

// perform does what an effect says. It is the only caller of what follows in this file.
func (s *Session) perform(f coord.Effect) {
	switch f := f.(type) {
	case conn.Effect:
		s.performConn(f)
	case turn.Effect:
		s.performTurn(f)
	case transcription.Effect:
		s.performTranscription(f)
	case response.Effect:
		s.performResponse(f)
	case synthesis.Effect:
		s.performSynthesis(s.running, f)
	case playout.Effect:
		s.performPlayout(f)
	}
}

func (s *Session) performConn(f conn.Effect) {
	switch f := f.(type) {
	case conn.AnnounceSession:
		s.log.Info("session begins", "pipeline", s.cfg.Pipeline.Name)
		s.send(&wire.SessionCreated{Session: s.settings.Current()})
		s.send(&wire.ConversationCreated{Conversation: wire.Conversation{ID: s.conversation.ID()}})
		s.logTracing(settings.Tracing{})
	case conn.StartVAD:
		s.input.StartDetection()
		s.armIdle()
	case conn.StopVAD:
		s.input.StopDetection()
		s.stopIdle()
	case conn.ArmGrace:
		s.armGrace(f.Gen)
	case conn.StopChildren:
		s.ends = f.Reason
		s.sayWhy(f.Reason)
		s.shutBeside()
		s.log.Info("session ends", "reason", f.Reason, "dropped_audio_frames", s.dropped.Load())
	case conn.ReleaseTransport:
		s.release()
	case conn.Forget:
		s.forgotten = true
	}
}

func (s *Session) performTurn(f turn.Effect) {
	switch f := f.(type) {
	case turn.OpenCandidate:
		s.speech.Open(f.Turn, s.input.TurnStart())
		s.input.OpenCandidate(f.Turn)
		s.after("decide", input.VerdictTimeout, verdictTimeout{f.Turn})
	case turn.RejectCandidate:
		s.stopTimer("decide")
		s.speech.Drop(f.Turn)
		s.input.CandidateRejected()
	case turn.OpenTurn:
		s.stopTimer("decide")
		s.stopIdle()
		s.after("audio", input.AudioTimeout, audioTimeout{f.Turn})
		s.openedTurn(f.Turn)
	case turn.EmitSpeechStarted:
		for _, e := range s.speech.Announce(f.Turn, s.speechView()) {
			s.send(e)
		}
	case turn.EmitSpeechStopped:
		s.send(&wire.InputAudioBufferSpeechStopped{AudioEndMS: s.input.ElapsedMS(), ItemID: s.speech.ItemID(f.Turn)})
	case turn.EmitTimeout:
		s.speech.Open(f.Turn, s.input.Start())
		s.send(&wire.InputAudioBufferTimeoutTriggered{
			AudioStartMS: int(s.input.Start().Milliseconds(format.InputRate)), AudioEndMS: s.input.ElapsedMS(), ItemID: s.speech.ItemID(f.Turn),
		})
	case turn.ArmFallback:
		s.after("fallback", time.Duration(f.MS)*time.Millisecond,
			coord.OfTurn{Event: turn.FallbackExpired{Turn: f.Turn, Gen: f.Gen}})
	case turn.AskGate:
		// No session setting asks for the gate yet, so the machine never gets here; letting the turn pass is what a
		// session without it does.
		s.again(coord.OfTurn{Event: turn.GatePassed(f)})
	case turn.CommitTurn:
		s.commitTurn(f)
	case turn.DiscardTurn:
		s.speech.Drop(f.Turn)
		s.input.TurnEnded()
		s.armIdle()
	case turn.BargeIn: // routed: the playout and the response are told by the composition
		s.player.Confirmed()
		s.log.Info("the user interrupts", "turn", f.Turn)
	}
}

func (s *Session) performResponse(f response.Effect) {
	switch f := f.(type) {
	case response.EmitCreated:
		s.created(f)
	case response.EmitTerminal:
		if r := s.replies[f.ID]; r != nil {
			s.terminal(r, f.Status)
		}
	case response.StartBody:
		s.starting = s.replies[f.ID]
		s.startWaiting()
	case response.CancelBody:
		r := s.replies[f.ID]
		if s.starting == r {
			s.starting = nil
			s.bodyless(r, response.ClientCancelled)
			return
		}
		r.body.cancel()
	case response.RejectActive:
		s.fail(failure{
			code:    "conversation_already_has_active_response",
			message: "Conversation already has an active response in progress: wait for response.done, or send response.cancel first.",
		})
	case response.RejectNotActive:
		s.notActive()
	case response.ReportDone:
	}
}

// performSynthesis does what an effect says about the clauses of r.
func (s *Session) performSynthesis(r *reply, f synthesis.Effect) {
	switch f := f.(type) {
	case synthesis.Say:
		select {
		case r.body.clauses <- clause{f.Clause, r.saying[f.Clause].text}:
		default:
			s.log.Warn("a response has more clauses than its voice takes", "response", r.object.ID)
			r.voiceErr = errTooManyClauses
			r.body.cancel()
		}
	case synthesis.Refuse:
		s.log.Error("a clause came after the end of its response", "response", r.object.ID)
		delete(r.saying, f.Clause)
	case synthesis.CloseQueue:
		close(r.body.clauses)
	case synthesis.StopWorker:
		if r != nil && r.body != nil {
			r.body.cancel()
		}
	case synthesis.Wake:
		if r != nil {
			s.saidAll(r)
		}
	}
}

func (s *Session) performPlayout(f playout.Effect) {
	switch f := f.(type) {
	case playout.Play:
		s.playing(s.player.Play(s.replies[f.Resp].track, uint64(f.Gen)))
	case playout.Hold:
		s.player.Hold(f.Resp)
	case playout.AwaitReady:
		s.player.AwaitReady(f.Candidate)
	case playout.RewindAndResume:
		s.playing(s.player.Resume(s.replies[f.Resp].track, f.From, uint64(f.Gen)))
	case playout.Drop:
		if r := s.replies[f.Resp]; r != nil {
			s.drop(r)
		}
	case playout.EmitStarted:
		if s.player.ServerPaced() {
			s.send(&wire.OutputAudioBufferStarted{ResponseID: s.replies[f.Resp].object.ID})
		}
	case playout.EmitStopped:
		s.stopped(s.replies[f.Resp])
	case playout.EmitCleared:
		if r := s.replies[f.Resp]; s.player.ServerPaced() && r != nil {
			s.send(&wire.OutputAudioBufferCleared{ResponseID: r.object.ID})
		}
	case playout.EmitRejected:
		s.rejected(s.player.Reject(f.Candidate))
	case playout.AwaitHeard:
		s.player.AwaitHeard(f.Resp)
	case playout.Truncate:
		// A client that plays by itself cuts what it got, and has nothing of a reply that waited.
		if r := s.replies[f.Resp]; r != nil && (s.player.ServerPaced() || !r.track.Heard()) {
			if !r.track.Whole(f.End) {
				s.truncate(r, f.End)
			}
			s.forget(r)
			s.startWaiting()
		}
	}
}

// playing sends the audio that the player has for a client that plays by itself.
func (s *Session) playing(out action.List) {
	if len(out) > 0 {
		s.firstPacket()
	}
	s.do(out)
}

// do performs what a component asks for, in order.
func (s *Session) do(out action.List) {
	for _, a := range out {
		switch a := a.(type) {
		case action.Send:
			s.sendThen(a.Event, a.Sent)
		case action.Step:
			s.step(a.Event)
		case action.Later:
			s.again(a.Event)
		}
	}
}

// drop forgets what of r was not sent.
func (s *Session) drop(r *reply) {
	if r.body != nil {
		r.body.free() // what it still says is heard by nobody, and must not wait for that
	}
	s.takeBack(r)
	if s.player.Drop(r.track) {
		s.offAir()
	}
	s.forget(r)
}

func (s *Session) offAir() {
	s.input.PlaybackEnded(s.now())
	s.armIdle()
}

// stopped: r was heard to its end.
func (s *Session) stopped(r *reply) {
	if s.player.ServerPaced() {
		s.send(&wire.OutputAudioBufferStopped{ResponseID: r.object.ID})
		if r.over && r.status == response.ClientCancelled {
			s.truncate(r, r.track.Mark(r.track.Length()))
		}
	}
	first := s.player.Stopped(r.track, s.coordConfig().Reports)
	s.offAir()
	if first { // else its tail was played again
		s.turnMetrics(r)
	}
	s.forget(r)
}
