package session

// Changes of the session, its items and its responses that a client asks for.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

func (c *Client) update(o room.Origin, e *wire.SessionUpdate) room.List {
	before := c.Settings.Tracing()
	events, refused := c.Settings.Update(e.Session, o.Privileged())
	if refused != nil {
		return room.Failed(refused)
	}
	c.Input.Configure()
	c.LogTracing(before)
	var out room.List
	out.SendAll(events)
	out = append(out, c.Remote.Configure()...)
	out.Step(coord.Configure{Config: c.Settings.MachineConfig(c.Player.ServerPaced())})
	out.Step(coord.OfConn{Event: conn.SetVAD{On: c.Settings.TurnDetection() != nil}})
	out.Then(func(s *coord.State) room.List {
		c.Input.ArmIdle(s)
		return nil
	})
	return out
}

// LogTracing logs the client's names for the session when they differ from before.
func (c *Client) LogTracing(before conversation.Tracing) {
	if t := c.Settings.Tracing(); t.On && t != before {
		c.Log.Info("tracing", "workflow", t.Workflow, "group", t.Group)
	}
}

func (c *Client) createItem(o room.Origin, e *wire.ConversationItemCreate) room.List {
	w := e.Item
	refused := conversation.Check(w)
	if refused == nil && w.Type == wire.ItemMCPApprovalResponse {
		return c.approve(e)
	}
	if refused == nil {
		refused = c.Settings.MayAdd(&w, o.Privileged())
	}
	if refused == nil {
		if it := c.Conversation.Answered(w); it != nil { // the output was sent already, perhaps by another client of the call
			return room.List{room.Answer{Event: &wire.ConversationItemRetrieved{Item: it.Item}}}
		}
		refused = c.Conversation.Prepare(&w)
	}
	if refused != nil {
		return room.Failed(refused)
	}
	recording, refused := c.Input.TakeRecording(&w)
	if refused != nil {
		return room.Failed(refused)
	}
	it, events, refused := c.Conversation.Create(w, e.PreviousItemID)
	switch {
	case refused != nil:
		c.Input.DropRecording(recording)
	case recording != nil:
		c.Input.Transcribe(it, recording)
	default:
		c.Conversation.Hear(it, c.Settings.InputFormat())
	}
	return answered(events, refused)
}

// approve takes the answer to a request for approval.
func (c *Client) approve(e *wire.ConversationItemCreate) room.List {
	w := e.Item
	if c.Conversation.Asking(w.ApprovalRequestID) == nil {
		return room.Failed(room.Refuse(wire.CodeInvalidValue, "item.approval_request_id", "no call waits for this approval: it was answered already, or there is none of this id"))
	}
	refused := c.Conversation.Prepare(&w)
	if refused != nil {
		return room.Failed(refused)
	}
	_, events, refused := c.Conversation.Create(w, e.PreviousItemID)
	if refused != nil {
		return room.Failed(refused)
	}
	out, _ := c.Generator.Approve(w.ApprovalRequestID, w.Approve, w.Reason)
	return append(answered(events, nil), out...)
}

func (c *Client) truncateItem(e *wire.ConversationItemTruncate) room.List {
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

func (c *Client) createResponse(o room.Origin, e *wire.ResponseCreate) (out room.List) {
	p := &e.Response
	refused := c.Settings.MayRespond(p, o.Privileged())
	if refused == nil {
		refused = c.Conversation.CheckInput(p.Input)
	}
	if refused != nil {
		return room.Failed(refused)
	}
	if p.Conversation != "none" {
		return append(c.Remote.Respond(p), c.Generator.Respond(p)...)
	}
	if refused = c.Generator.Reserve(p); refused != nil {
		return room.Failed(refused)
	}
	out, refused = c.Generator.CreateOutOfBand(p)
	if refused != nil {
		return room.Failed(refused)
	}
	return out
}

// cancelResponse cancels the response with that name; "" names the conversation's.
func (c *Client) cancelResponse(name string) room.List {
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
