package session

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// The routes: which effect of a machine is an event of another machine. Each effect also stays in the list for the driver.

// routeConn passes an effect of the connection machine on.
func (c *composition) routeConn(f conn.Effect) {
	c.out = append(c.out, f)
	switch f.(type) {
	case conn.StopVAD:
		if conn.Up(c.s.Conn) { // otherwise StopChildren follows, which stops the audio first
			c.turn(turn.Shutdown{})
		}
	case conn.StopChildren:
		c.s.Waiting, c.s.Texted, c.s.Queued = 0, false, Queue{}
		c.forgetOwed()
		c.playout(playout.Shutdown{})
		c.turn(turn.Shutdown{})
		c.live(transcription.Shutdown{})
		c.final(transcription.Shutdown{})
		c.older(transcription.Shutdown{})
		c.response(response.Shutdown{})
	case conn.AnnounceSession, conn.StartVAD, conn.ArmGrace, conn.ReleaseTransport, conn.Forget:
	}
}

// routeTurn passes an effect of the turn machine on. wasOpen says whether a turn was open before the event.
func (c *composition) routeTurn(f turn.Effect, wasOpen bool) {
	if _, commits := f.(turn.CommitTurn); commits && wasOpen && c.s.Config.Interrupt {
		// A response that began during the turn answers an older turn (BargeInBeforeCommit).
		c.cutOff(0)
	}
	c.out = append(c.out, f)
	switch f := f.(type) {
	case turn.OpenCandidate:
		c.hold(f.Turn)
		c.live(transcription.Open(f))
	case turn.OpenTurn:
		if transcription.TurnOf(c.s.Live) != f.Turn {
			c.live(transcription.Open(f))
		}
	case turn.RejectCandidate:
		c.live(transcription.Abandon(f))
		c.undoFalseTurn(f.Turn)
	case turn.DiscardTurn:
		c.live(transcription.Abandon{Turn: f.Turn})
		c.undoFalseTurn(f.Turn)
	case turn.BargeIn:
		if c.s.Config.Interrupt { // it may have been switched off while the candidate was judged
			c.cutOff(f.Turn)
		}
	case turn.CommitTurn:
		c.committed(f)
	case turn.EmitSpeechStarted, turn.EmitSpeechStopped, turn.EmitTimeout, turn.ArmFallback, turn.AskGate:
	}
}

// hold holds the response that plays, for the candidate t.
func (c *composition) hold(t turn.ID) {
	c.playout(playout.Candidate{Candidate: t, Heard: c.at, Reports: c.reports})
}

// committed moves the committed turn's stream to the machine that waits for the final text. If the turn is to get a response,
// committed stores it in Waiting. A turn before it that has no response yet gets none of its own: one response answers both.
func (c *composition) committed(f turn.CommitTurn) {
	if !f.ByClient && c.s.Config.CreateResponse {
		c.s.Waiting, c.s.Texted = f.Turn, f.Wordless
	} else if !c.agentBusy() {
		c.forgetOwed() // the client has to ask again for a response that this turn ended
	}
	if f.Wordless {
		c.answer()
		return
	}
	if transcription.TurnOf(c.s.Final) != 0 {
		if older := transcription.TurnOf(c.s.Older); older != 0 { // two turns wait already: the oldest gets a failure
			c.older(transcription.Abandon{Turn: older})
		}
		handOver(c, f, "transcription.final", &c.s.Final, "transcription.older", &c.s.Older)
	}
	if transcription.TurnOf(c.s.Live) == f.Turn {
		handOver(c, f, "transcription", &c.s.Live, "transcription.final", &c.s.Final)
		c.final(transcription.Finish{Turn: f.Turn})
		return
	}
	c.final(transcription.Decode{Turn: f.Turn})
}

// handOver moves a turn's stream from one machine to another, whose own stream has ended.
func handOver(c *composition, f Effect, from string, a *transcription.State, to string, b *transcription.State) {
	stream := *a
	set(c, from, "HandOver", a, f, transcription.State(transcription.Closed{}))
	set(c, to, "TakeOver", b, f, stream)
}

// routeResponse passes an effect of the response machine on.
func (c *composition) routeResponse(f response.Effect) {
	c.out = append(c.out, f)
	switch f := f.(type) {
	case response.StartBody:
		set(c, "synthesis", "Begin", &c.s.Synthesis, f, synthesis.State(synthesis.Open{}))
	case response.CancelBody:
		c.synthesis(synthesis.Cancel{})
	case response.EmitTerminal:
		if c.s.Queued.Has(f.ID) && cancelled(f.Status) {
			c.unqueue(f.ID)
		}
	case response.EmitCreated, response.RejectActive, response.RejectNotActive:
	}
}

// cancelled reports whether a response with this status was cancelled, and did not end by itself.
func cancelled(s response.Status) bool {
	switch s {
	case response.TurnDetected, response.ClientCancelled, response.SessionEnded:
		return true
	case response.Completed, response.Incomplete, response.Failed:
	}
	return false
}

// routeText passes an effect of a machine on that waits for the text of a committed turn.
func (c *composition) routeText(f transcription.Effect) {
	c.out = append(c.out, f)
	switch f := f.(type) {
	case transcription.DeliverText:
		c.texted(f.Turn, !f.Empty)
	case transcription.DeliverFailure:
		c.texted(f.Turn, false)
	case transcription.OpenStream, transcription.CloseInput, transcription.DecodeWhole, transcription.CloseStream,
		transcription.Degrade:
	}
}

// texted takes the text of the committed turn t; words says whether it has any. If it has none, the turn gets no response, and the
// response that it ended is created again.
func (c *composition) texted(t turn.ID, words bool) {
	if c.s.Waiting != t {
		return
	}
	if words {
		c.s.Texted = true
		c.answer()
		return
	}
	c.s.Waiting, c.s.Texted = 0, false
	c.createAgain()
}
