package session

// The machines' driver: it steps them and performs their effects, in order.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/wire"
)

// step runs one event through the machines and performs the effects.
func (s *Session) step(e coord.Event) { s.stepFor(room.Origin{}, e) }

// stepFor is step for an event that a client's event has caused.
func (s *Session) stepFor(o room.Origin, e coord.Event) { s.stepAt(o, s.player.ItemPosition(), e) }

// stepAt is stepFor where the far end has heard the response on air up to at.
func (s *Session) stepAt(o room.Origin, at playout.Position, e coord.Event) {
	if first := s.player.Settle(e, &s.machines.state); first != nil {
		s.stepAt(o, at, first)
	}
	from := s.machines.state
	next, effects, steps := coord.Next(from, at, e)
	s.machines.state = next
	rest := s.pauseFirst(effects)
	if s.cfg.Took != nil {
		s.cfg.Took(s.id, at, e, from)
	}
	if s.cfg.CheckInvariants {
		var broken string
		if s.machines.seen, broken = coord.Watch(s.machines.seen, coord.Edge{From: from, Event: e, To: next, Effects: effects}); broken != "" {
			s.broken(broken, e.Name())
		}
	}
	if _, was := from.Conn.(conn.Interrupted); was {
		if _, is := next.Conn.(conn.Live); is {
			s.log.Info("connection restored")
		}
	}
	for _, st := range steps {
		room.LogStep(s.log, st)
		s.deck.Stepped(st)
		if s.cfg.Trace != nil {
			s.cfg.Trace(s.id, st)
		}
	}
	for _, f := range effects[:len(effects)-len(rest)] {
		s.performed(f)
	}
	for _, f := range rest {
		s.runs.Follow(f)
		s.perform(o, f)
		s.performed(f)
	}
	s.generator.ForgetCauses(&s.machines.state)
	s.play(s.player.FollowLink(&s.machines.state))
	if e := s.player.Settled(&s.machines.state); e != nil {
		s.send(e)
	}
}

// performed traces an effect that was performed.
func (s *Session) performed(f coord.Effect) {
	if s.cfg.Performed != nil {
		s.cfg.Performed(s.id, f)
	}
}

// pauseFirst performs the Pause that a step may begin with, and returns the other effects. It is performed before the step
// is logged: no sound goes out while a log is written.
func (s *Session) pauseFirst(effects []coord.Effect) []coord.Effect {
	if len(effects) == 0 {
		return nil
	}
	pause, is := effects[0].(coord.Pause)
	if !is {
		return effects
	}
	if !s.player.Softens() || !slices.Contains(effects, coord.Effect(playout.Hold{Resp: pause.Resp})) {
		s.player.Pause(pause.Resp)
	}
	return effects[1:]
}

// fromClient takes an event of the client, or of a side-band controller.
func (s *Session) fromClient(m Message) {
	before, tab := s.sent, &s.shared.tab
	if m.From != nil {
		tab = m.From.Tab
	}
	o, out := s.client.Take(m, &s.machines.state)
	s.doFor(o, out)
	tab.Owes.Add(int64(s.sent - before))
}

// do performs the actions of a room, in order.
func (s *Session) do(out room.List) { s.doFor(room.Origin{}, out) }

// doFor is do for the actions that a client's event has caused.
func (s *Session) doFor(o room.Origin, out room.List) {
	for _, a := range out {
		switch a := a.(type) {
		case room.Send:
			s.sendThen(a.Event, a.Sent)
		case room.Step:
			s.stepFor(o, a.Event)
		case room.Silence:
			if s.player.Soft() {
				s.do(s.player.Silence(&s.machines.state))
				s.tellPlaying(true)
			}
		case room.StepAt:
			s.stepAt(o, a.At, a.Event)
		case room.Later:
			s.again(machineEvent{a.Event})
		case room.Then:
			s.doFor(o, a.Next(&s.machines.state))
		case room.Answer:
			s.answer(o, a.Event)
		case room.Fail:
			s.fail(o, a.Failure)
		case room.Committed:
			s.generator.Commit(a.Turn, a.Timing)
		case room.Said:
			s.do(s.runs.Said(a.Turn, a.Text))
		}
	}
}

// facts returns what the room listening must know of the others.
func (s *Session) facts() listening.Facts {
	return listening.Facts{NearAnswer: s.generator.NearAnswer(), AtEnd: s.player.AtEnd(), Unbegun: s.generator.Unbegun(), Strict: s.runs.Strict()}
}

// play is do for the actions of the player or of a body. A client that plays by itself gets its audio this way.
func (s *Session) play(out room.List) {
	for _, a := range out {
		if send, is := a.(room.Send); is && send.Sent != nil {
			s.firstPacket()
			break
		}
	}
	s.do(out)
}

// audible reports whether the agent is audible at present.
func (s *Session) audible() bool {
	_, playing := s.machines.state.Playout.(playout.Playing)
	return playing
}

// perform performs an effect. o is the origin of the client's event that caused it.
func (s *Session) perform(o room.Origin, f coord.Effect) {
	switch f := f.(type) {
	case conn.Effect:
		s.performConn(f)
	case turn.BargeIn: // the composition has routed it to the playout and the response
		s.player.Confirmed()
		s.log.Info("the user interrupts", "turn", f.Turn)
	case turn.Effect:
		s.do(s.input.Turn(f, &s.machines.state, s.facts()))
	case transcription.Effect:
		s.do(s.input.Transcription(f, &s.machines.state, s.facts()))
	case response.Effect:
		s.performResponse(o, f)
	case synthesis.Effect:
		s.generator.Synthesis(f)
	case playout.Effect:
		s.performPlayout(f)
	}
}

func (s *Session) performConn(f conn.Effect) {
	switch f := f.(type) {
	case conn.AnnounceSession:
		if s.cfg.Kept.Restore != nil { // its client knows it
			s.log.Info("session goes on", "pipeline", s.cfg.Pipeline.Name, "items", len(s.cfg.Kept.Restore.Items))
			return
		}
		s.log.Info("session begins", "pipeline", s.cfg.Pipeline.Name)
		s.send(&wire.SessionCreated{Session: s.settings.Current()})
		s.send(&wire.ConversationCreated{Conversation: wire.Conversation{ID: s.conversation.ID()}})
		s.client.LogTracing(conversation.Tracing{})
	case conn.StartVAD:
		s.do(s.input.StartDetection(&s.machines.state))
	case conn.StopVAD:
		s.input.StopDetection()
	case conn.ArmGrace:
		s.lifetime.ArmGrace(f.Gen)
	case conn.StopChildren:
		s.end.reason = f.Reason
		s.doFor(s.lifetime.Explain(f.Reason))
		s.do(s.generator.ShutOutOfBand())
		s.lifetime.LogEnd(f.Reason, s.shared.dropped.Load())
	case conn.ReleaseTransport:
		s.release()
	case conn.Forget:
		s.end.forgotten = true
	}
}

func (s *Session) performResponse(o room.Origin, f response.Effect) {
	switch f := f.(type) {
	case response.EmitCreated:
		s.doFor(o, s.generator.Created(f, s.conversation.ID()))
	case response.EmitTerminal:
		r := s.generator.Find(f.ID)
		s.doFor(o, s.generator.End(f))
		if r != nil && !r.Track().Begun() { // otherwise idle_timeout_ms counts from the end of the playout
			s.input.ArmIdle(&s.machines.state)
		}
	case response.StartBody:
		s.doFor(o, s.generator.Ask(f.ID))
	case response.CancelBody:
		s.doFor(o, s.generator.Cancel(f.ID))
	case response.RejectActive:
		s.fail(o, &room.Failure{
			Code:    "conversation_already_has_active_response",
			Message: "Conversation already has an active response in progress: wait for response.done, or send response.cancel first.",
		})
	case response.RejectNotActive:
		s.fail(o, speaking.NotActive())
	}
}

func (s *Session) performPlayout(f playout.Effect) {
	switch f := f.(type) {
	case playout.Play:
		s.play(s.player.Play(s.generator.Find(f.Resp).Track(), uint64(f.Gen)))
	case playout.Hold:
		if s.player.Hold(f.Resp, s.machines.state.Config.Reports); !s.player.Soft() {
			s.tellPlaying(true)
		}
	case playout.AwaitReady:
		s.player.AwaitReady(f.Candidate)
	case playout.RewindAndResume:
		s.play(s.player.Resume(s.generator.Find(f.Resp).Track(), f.From, uint64(f.Gen)))
	case playout.Drop:
		if r := s.generator.Find(f.Resp); r != nil && s.generator.Drop(r) {
			s.input.PlaybackEnded(&s.machines.state)
		}
	case playout.EmitStarted:
		if s.player.ServerPaced() {
			s.send(&wire.OutputAudioBufferStarted{ResponseID: s.generator.Find(f.Resp).Name()})
		}
	case playout.EmitStopped:
		s.do(s.generator.Stopped(s.generator.Find(f.Resp), s.machines.state.Config.Reports))
		s.input.PlaybackEnded(&s.machines.state)
	case playout.EmitCleared:
		if r := s.generator.Find(f.Resp); r != nil && s.player.ServerPaced() {
			s.send(&wire.OutputAudioBufferCleared{ResponseID: r.Name()})
		}
	case playout.EmitRejected:
		if e := s.player.Reject(f.Candidate); e != nil {
			s.send(e)
		}
	case playout.AwaitHeard:
		s.player.AwaitHeard(s.generator.Find(f.Resp).Track())
	case playout.Truncate:
		// A client that plays by itself truncates the audio that it has got, and has no audio of a response that waited.
		r := s.generator.Find(f.Resp)
		if r != nil && (s.player.ServerPaced() || !r.Track().Played()) && !r.Track().Whole(f.End) {
			s.runs.Cut(f.Resp)
			s.do(s.generator.Truncate(r, f.End))
		}
	}
}

// tellPlaying tells a client that knows our extensions which packet has which audio of the response on air. held says that it stands still.
func (s *Session) tellPlaying(held bool) {
	if !s.settings.Client.Extended {
		return
	}
	if e := s.player.Playing(held); e != nil {
		s.send(e)
	}
}

// firstPacket notes that the response on air is audible from now on.
func (s *Session) firstPacket() {
	if r := s.generator.OnAir(); r != nil && r.Turn() != nil {
		r.Turn().FirstPacket(s.cfg.Env.Now())
	}
}
