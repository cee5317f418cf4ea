package session

// The events of a client that knows our extensions: its greeting, and the reports of a client that predicts barge-ins. coord/bargein is the
// client's half of these.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// hello takes the greeting of a client, or of a side-band controller, and answers which machines run here.
func (c *Client) hello(o room.Origin, e *wire.AntiphonHello) (out room.List) {
	client := &c.Settings.Client
	client.Extended = true
	if o.Side != nil {
		o.Side.SetExtended()
		client.Metrics, client.Sounds, client.Words = client.Metrics || e.Metrics, client.Sounds || e.Sounds, client.Words || e.Words
	} else {
		c.Reconnects.Store(true)
		client.Metrics, client.Reports, client.Sounds, client.TakeBack, client.Words = e.Metrics, e.BargeIn, e.Sounds, e.TakeBack, e.Words
		c.Player.NewClient()
		c.Settings.SetTimeZone(e.TimeZone)
	}
	_, differ := machine.Differing(coord.Machines(), func(name string) (string, bool) {
		theirs, ok := e.Machines.Field(name)
		if !ok {
			return "", false
		}
		return theirs.Text()
	})
	if len(differ) > 0 {
		c.Log.Warn("the client has another version of some state machines than this server: it may predict what does not come",
			"machines", differ)
	}
	var machines wire.Raw
	for _, m := range coord.Machines() {
		machines = machines.WithText(m.Name, m.Fingerprint)
	}
	ack := &wire.AntiphonAck{Acknowledges: e.ID(), Machines: machines}
	if o.Side == nil { // a side-band controller does not reconnect
		ack.Resume = c.Token
	}
	out.Step(coord.Configure{Config: c.Settings.MachineConfig(c.Player.ServerPaced())})
	out = append(out, room.Answer{Event: ack})
	if c.progress != nil {
		out = append(out, room.Answer{Event: c.progress.told()})
	}
	return out
}

// reported takes a report. Only a client that has said that it predicts barge-ins may report; another one gets an error.
func (c *Client) reported(o room.Origin, take func() room.List) room.List {
	if c.Settings.Client.Reports && o.Side == nil {
		return take()
	}
	return room.Failed(&room.Failure{
		Code: "unsupported_event", Param: "type",
		Message: "antiphon.barge_in events are for clients that predict interruptions: send antiphon.hello with barge_in first",
	})
}

// candidate takes the report of the client's detector that the user may be interrupting. Every report is answered, but
// for one about a response that was cut a short time ago: the events of that cut are on their way and are the answer.
func (c *Client) candidate(e *wire.AntiphonBargeInCandidate, s *coord.State) (out room.List) {
	if c.Player.WasCut(e.ResponseID) {
		return nil
	}
	fresh, opens := c.Player.TakeCandidate(e.Candidate, e.ResponseID, s.Playout)
	if opens {
		was := turn.Open(s.Turn)
		out = append(out, room.StepAt{Event: coord.OfTurn{Event: turn.ClientCandidate{}}, At: c.Player.DuckedAt(e.RTPTimestamp)})
		out.Then(func(s *coord.State) room.List {
			c.opened(was, s)
			return nil
		})
	}
	out.Then(func(*coord.State) (out room.List) {
		out = c.Player.Answer(e.ID(), fresh && opens)
		if fresh && c.Player.Judged() { // there is nothing to interrupt, or the client may not
			out.Send(c.Player.RejectNewest())
		}
		return out
	})
	return out
}

// opened begins to judge the client's newest candidate if the machines have taken it. was is the turn that was open before.
func (c *Client) opened(was turn.ID, s *coord.State) {
	candidate, is := s.Turn.(turn.Candidate)
	if !is {
		return
	}
	c.Player.Opened(candidate.Turn)
	if candidate.Turn != was {
		held, _ := s.Playout.(playout.Held)
		c.Input.OpenPredicted(candidate.Turn, held.Tail, listening.Facts{NearAnswer: c.Generator.NearAnswer(), AtEnd: c.Player.AtEnd()}, s)
	}
}

// ready takes the client's report that it plays at full level again.
func (c *Client) ready(e *wire.AntiphonBargeInReady, s *coord.State) (out room.List) {
	if ev, ok := c.Player.Ready(e.Candidate, e.RTPTimestamp, s.Playout); ok {
		out.Step(ev)
	}
	return out
}

// heard takes the client's report of how far it played a cut response, or one that the server has sent to its end and the user has stopped since.
func (c *Client) heard(e *wire.AntiphonBargeInHeard, s *coord.State) (out room.List) {
	if !c.Player.ServerPaced() {
		return nil
	}
	resp := c.target(e.ResponseID)
	if now, cut := s.Playout.(playout.Cut); cut && resp == now.Resp {
		if ev, ok := c.Player.Heard(c.Generator.Find(resp).Track(), e.RTPTimestamp); ok {
			out.Step(ev)
		}
	} else if end, ok := c.Player.TailHeard(resp, e.RTPTimestamp); ok {
		c.Runs.Cut(resp)
		return c.Generator.Truncate(c.Generator.Find(resp), end)
	}
	return out
}
