package client

// Changes of the session, its items and its responses that a client asks for.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/action"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/fault"
	"github.com/antiphon-rt/antiphon/internal/call/settings"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

func (c *Client) update(o Origin, e *wire.SessionUpdate) action.List {
	before := c.Settings.Tracing()
	events, refused := c.Settings.Update(e.Session, o.privileged())
	if refused != nil {
		return failed(refused)
	}
	c.Input.Configure()
	c.LogTracing(before)
	var out action.List
	out.SendAll(events)
	out.Step(coord.Configure{Config: c.MachineConfig()})
	out.Step(coord.OfConn{Event: conn.SetVAD{On: c.Settings.TurnDetection() != nil}})
	out.Then(func(s *coord.State) action.List {
		c.Input.ArmIdle(s)
		return nil
	})
	return out
}

// MachineConfig returns the part of the settings, and of what the client has said of itself, that decides transitions. A client
// that plays by itself (WebSocket) makes no reports that the server uses.
func (c *Client) MachineConfig() coord.Config {
	return c.Settings.MachineConfig(c.reports && c.Player.ServerPaced())
}

// LogTracing logs the client's names for the session when they differ from before.
func (c *Client) LogTracing(before settings.Tracing) {
	if t := c.Settings.Tracing(); t.On && t != before {
		c.Log.Info("tracing", "workflow", t.Workflow, "group", t.Group)
	}
}

func (c *Client) createItem(o Origin, e *wire.ConversationItemCreate) action.List {
	w := e.Item
	refused := conversation.Check(w)
	if refused == nil {
		refused = c.Settings.MayAdd(&w, o.privileged())
	}
	if refused == nil {
		if it := c.Conversation.Answered(w); it != nil { // the output was sent already, perhaps by another client of the call
			return action.List{action.Answer{Event: &wire.ConversationItemRetrieved{Item: it.Item}}}
		}
		refused = c.Conversation.Prepare(&w)
	}
	if refused != nil {
		return failed(refused)
	}
	recording, refused := c.Input.TakeRecording(&w)
	if refused != nil {
		return failed(refused)
	}
	it, events, refused := c.Conversation.Create(w, e.PreviousItemID)
	switch {
	case refused != nil:
	case recording != nil:
		c.Input.Transcribe(it, recording)
	default:
		c.Conversation.Hear(it, c.Settings.InputFormat())
	}
	return answered(events, refused)
}

// Inform adds a system message to the end of the conversation, which the server itself has for the model.
func (c *Client) Inform(text string) (out action.List, refused *fault.Failure) {
	w := wire.Item{Type: wire.ItemMessage, Role: "system", Content: []wire.Content{{Type: wire.ContentInputText, Text: text}}}
	if refused := c.Conversation.Prepare(&w); refused != nil {
		return nil, refused
	}
	_, events, refused := c.Conversation.Create(w, "")
	out.SendAll(events)
	return out, refused
}

// Respond begins a response of the session's own accord.
func (c *Client) Respond() action.List { return c.createResponse(Origin{}, &wire.ResponseCreate{}) }

// RespondWith is Respond with settings of the response's own. Locks do not count.
func (c *Client) RespondWith(p wire.ResponseParams) (out action.List) {
	if refused := c.Generator.Reserve(&p); refused != nil {
		return failed(refused)
	}
	out.Step(coord.OfResponse{Event: response.Create{Request: c.Generator.Request(&p)}})
	return out
}

func (c *Client) truncateItem(e *wire.ConversationItemTruncate) action.List {
	it := c.Conversation.Find(e.ItemID)
	var sent voice.Samples
	if it != nil {
		sent = c.Generator.SentOf(it)
	}
	events, refused := c.Conversation.Truncate(it, e, sent)
	out := answered(events, refused)
	if refused == nil && c.Generator.ClientStopped(it) {
		out.Step(coord.OfPlayout{Event: playout.Clear{}})
	}
	return out
}

func (c *Client) createResponse(o Origin, e *wire.ResponseCreate) (out action.List) {
	p := &e.Response
	refused := c.Settings.MayRespond(p, o.privileged())
	if refused == nil {
		refused = c.Conversation.CheckInput(p.Input)
	}
	if refused == nil {
		refused = c.Generator.Reserve(p)
	}
	if refused != nil {
		return failed(refused)
	}
	if p.Conversation != "none" {
		out.Step(coord.OfResponse{Event: response.Create{Request: c.Generator.Request(p)}})
		return out
	}
	out, refused = c.Generator.CreateOutOfBand(p)
	if refused != nil {
		return failed(refused)
	}
	return out
}

// cancelResponse cancels the response with that name; "" names the conversation's.
func (c *Client) cancelResponse(name string) action.List {
	of := c.target(name)
	out, is := c.Generator.CancelOutOfBand(of)
	if !is {
		out.Step(coord.OfResponse{Event: response.Cancel{Target: of}})
	}
	return out
}

// target returns the response that a name means: 0, the live one, for "". An unknown name matches no response.
func (c *Client) target(name string) response.ID {
	if name == "" {
		return 0
	}
	if of, ok := c.Generator.Named(name); ok {
		return of
	}
	return ^response.ID(0)
}
