package session

// The client of a simulated call: it keeps its own view of the session and checks the events that arrive.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// client is the client of a call: its view of the session, which follows from the events that have arrived, and the user who talks.
type client struct {
	source
	mic       func() // sends a frame
	talks     ms     // until then
	open      bool
	live      response.ID // announced to it, and not ended
	newest    response.ID
	started   response.ID // its sound has begun, and neither stopped nor been cleared
	ended     response.ID // newest whose sound has ended
	speech    turn.ID     // announced, and not stopped
	committed turn.ID
	words     map[turn.ID]int // texts and failures of a turn
	wordless  map[turn.ID]bool
	heard     int
	outages   int
	performed []string
}

// talk sends a frame of the user's speech. It sends no frames of silence, because a missing frame means the same.
func (c *client) talk() {
	if c.clock.now < c.talks {
		c.mic()
	}
}

// see takes an event that arrives. It returns why a client would not understand it, or "".
func (c *client) see(f machine.Named) string {
	if _, first := f.(conn.AnnounceSession); first == c.open {
		return f.Name() + " out of place: session.created comes once and first"
	}
	switch f := f.(type) {
	case conn.AnnounceSession:
		c.open, c.words, c.wordless = true, map[turn.ID]int{}, map[turn.ID]bool{}
	case turn.Effect:
		return c.seeTurn(f)
	case response.EmitCreated:
		if c.live != 0 || f.ID <= c.newest {
			return fmt.Sprintf("response %d is created while %d is live, after %d", f.ID, c.live, c.newest)
		}
		c.live, c.newest = f.ID, f.ID
	case response.EmitTerminal:
		if c.live != f.ID {
			return fmt.Sprintf("response %d ends, but %d is live", f.ID, c.live)
		}
		c.live = 0
	case playout.Effect:
		return c.seePlayout(f)
	case transcription.DeliverText:
		return c.seeText(f.Turn)
	case transcription.DeliverFailure:
		return c.seeText(f.Turn)
	}
	return ""
}

func (c *client) seeTurn(f turn.Effect) string {
	switch f := f.(type) {
	case turn.EmitSpeechStarted:
		if c.speech != 0 {
			return "speech starts twice"
		}
		c.speech = f.Turn
	case turn.EmitSpeechStopped:
		if c.speech != f.Turn {
			return fmt.Sprintf("speech of turn %d stops, but that of %d has started", f.Turn, c.speech)
		}
		c.speech = 0
	case turn.CommitTurn:
		if f.Turn <= c.committed || c.speech != 0 {
			return fmt.Sprintf("turn %d is committed after %d, with the speech of %d", f.Turn, c.committed, c.speech)
		}
		c.committed = f.Turn
		c.wordless[f.Turn] = f.Wordless
	}
	return ""
}

func (c *client) seePlayout(f playout.Effect) string {
	ends := func(id response.ID) string {
		if c.started != id {
			return fmt.Sprintf("the sound of %d ends, but that of %d has begun", id, c.started)
		}
		c.started, c.ended = 0, id
		return ""
	}
	switch f := f.(type) {
	case playout.EmitStarted:
		if c.started != 0 || f.Resp < c.ended { // the end of one may be said again
			return fmt.Sprintf("the sound of %d begins beside %d, after %d", f.Resp, c.started, c.ended)
		}
		c.started = f.Resp
	case playout.EmitStopped:
		return ends(f.Resp)
	case playout.EmitCleared:
		return ends(f.Resp)
	case playout.Truncate:
		if c.started == f.Resp {
			return fmt.Sprintf("reply %d is cut while it sounds", f.Resp)
		}
	}
	return ""
}

func (c *client) seeText(t turn.ID) string {
	c.words[t]++
	if c.words[t] > 1 || c.wordless[t] || t > c.committed {
		return fmt.Sprintf("a text of turn %d: the %d.", t, c.words[t])
	}
	return ""
}

// agrees says where the client's picture and the server's differ when nothing is under way any more.
func (c *client) agrees(w *world) string {
	if _, up := w.s.Conn.(conn.Live); !up || !c.open {
		return ""
	}
	started := response.ID(0)
	switch p := w.s.Playout.(type) {
	case playout.Playing:
		started = p.Resp
	case playout.Held:
		if p.Started {
			started = p.Resp
		}
	case playout.Silent, playout.Cut, playout.Terminated:
	}
	switch {
	case c.live != response.Live(w.s.Response):
		return fmt.Sprintf("the client believes that response %d is live", c.live)
	case c.started != started:
		return fmt.Sprintf("the client believes that %d is to be heard", c.started)
	case c.speech != 0:
		return fmt.Sprintf("the client believes that turn %d goes on", c.speech)
	}
	for t := range c.wordless {
		if !c.wordless[t] && c.words[t] != 1 {
			return fmt.Sprintf("the client waits for the words of turn %d", t)
		}
	}
	return ""
}

// send brings a client's message to the actor, which keeps back what comes before the session is open.
func (c *call) send(do func()) {
	c.up.event(func() {
		if _, early := c.w.s.Conn.(conn.Connecting); early {
			c.early = append(c.early, do)
			return
		}
		do()
	})
}

// opened is the transport that carries, and the back ends that are warm.
func (c *call) opened() {
	c.take(OfConn{conn.Opened{VAD: c.client.percent(90)}})
	for _, do := range c.early {
		do()
	}
}

// wish is what somebody does, as the plan says.
func (c *call) wish(w wish) {
	switch w.what {
	case speak:
		c.talks = max(c.talks, c.now+ms(w.n))
	case create:
		c.send(func() { c.ask(asks(c.w.s), "EmitCreated", "RejectActive") })
	case cancel:
		c.send(func() { c.ask(OfResponse{response.Cancel{}}, "EmitTerminal", "RejectNotActive") })
	case cancelOne:
		id := max(c.live, c.newest)
		c.send(func() { c.ask(OfResponse{response.Cancel{Target: id}}, "EmitTerminal", "RejectNotActive") })
	case commit:
		c.send(func() { c.ask(OfTurn{turn.Commit{}}, "CommitTurn") })
	case clearInput:
		c.send(func() { c.take(OfTurn{turn.Clear{}}) })
	case clearOutput:
		c.send(func() { c.take(OfPlayout{playout.Clear{}}) })
	case configure:
		c.send(func() {
			c.take(Configure{Config{Interrupt: w.n&1 > 0, CreateResponse: w.n&2 > 0, Reports: c.plan.config.Reports}})
		})
	case detect:
		c.send(func() { c.take(OfConn{conn.SetVAD{On: w.n > 0}}) })
	case suspect:
		if c.plan.config.Reports {
			c.predictor.onset()
			return
		}
		c.send(func() { c.take(OfTurn{turn.ClientCandidate{}}) })
	case outage:
		c.outage(ms(w.n))
	case hangUp:
		c.send(func() { c.take(OfConn{conn.Close{Reason: conn.ByClient}}) })
	case fail:
		c.take(OfConn{conn.Close{Reason: conn.Failed}})
	case timeUp:
		c.take(OfConn{conn.Close{Reason: conn.TimeLimit}})
	}
}
