package session

// A Client: its state in the session, and how the session takes its events.

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/remote"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/call/survival"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/wire"
)

// Message is an event of the client, or of a side-band controller, that is not decoded yet.
type Message struct {
	From *link.SidebandController // nil for the client
	Text []byte
	// Refused says why the message cannot be taken; Text is empty then.
	Refused *room.Failure
}

// Bounds of the messages that may come before the session is announced.
const (
	maxEarly      = 64
	maxEarlyBytes = 4 << 20
)

// clientParts are the other parts of the session that a Client uses. They belong to the session's goroutine, as the Client does.
type clientParts struct {
	Log          *slog.Logger
	Settings     *conversation.Settings
	Conversation *conversation.Conversation
	Input        *listening.Listening
	Generator    *speaking.Generator
	Player       *speaking.Player
	// Token is the token with which the client reconnects over another connection; "" for none.
	Token string
	// Record, when not nil, sees the text of every event. It must not keep the text.
	Record func(text []byte)
	// Reconnects is set when the client says that it can reconnect over another connection.
	Reconnects *atomic.Bool
	Runs       *runs.Runs
	Remote     *remote.Remote
	Survival   *survival.Survival
}

// Client is the client of a session. See the package comment.
type Client struct {
	clientParts
	early    early
	keypad   keypad
	greeting *greeting   // waits until the session is announced; nil for none
	progress *progressed // of the call that the server places; nil for another call
}

// early has the messages that came before the session was announced.
type early struct {
	messages []Message
	bytes    int // the size of all waiting messages
	lost     int // how many had no room
}

// Take takes one message. o is the event that it has, for the answers to it. Every fault of the message gets an error.
func (c *Client) Take(m Message, s *coord.State) (o room.Origin, out room.List) {
	if c.tooEarly(m, s) {
		return room.Origin{}, nil
	}
	o = room.Origin{Client: true, Side: m.From}
	if m.Refused != nil {
		out.Fail(m.Refused)
		return o, out
	}
	if c.Record != nil {
		c.Record(mcp.Redacted(m.Text))
	}
	e, err := wire.DecodeClient(m.Text)
	var bad *wire.DecodeError
	if _, asks := e.(*wire.ResponseCreate); err == nil && asks {
		if bad = conversation.CheckNames(m.Text); bad != nil {
			bad.EventID = e.ID()
		}
	}
	if bad != nil || errors.As(err, &bad) {
		o.Event = bad.EventID
		out.Fail(room.Refused(bad))
	} else {
		o.Event = e.ID()
	}
	if bad == nil && c.Survival.TakenBefore(o, e, m.Text) {
		c.Log.Debug("an event that the client has sent again counts once", "event", e.Type())
		return o, o.Counted()
	}
	if o.Event != "" && o.Side == nil { // those of a side-band controller are not the client's
		c.Survival.Take(o.Event)
	}
	if bad == nil {
		out = c.answer(o, e, s)
	}
	return o, out
}

// tooEarly reports whether a message comes when nothing is answered. session.created is the server's first event, so a message waits for it
// while the back ends load. When the session ends, the message is dropped.
func (c *Client) tooEarly(m Message, s *coord.State) bool {
	if conn.Up(s.Conn) {
		return false
	}
	if _, connecting := s.Conn.(conn.Connecting); !connecting {
		return true
	}
	if len(c.early.messages) == maxEarly || c.early.bytes+len(m.Text) > maxEarlyBytes {
		c.early.lost++
		return true
	}
	c.early.messages = append(c.early.messages, m)
	c.early.bytes += len(m.Text)
	return true
}

// TakeEarly returns the messages that came before the session was announced, and forgets them. The last one says how many had no room.
func (c *Client) TakeEarly() []Message {
	out := c.early.messages
	if c.early.lost > 0 {
		out = append(out, Message{Refused: &room.Failure{
			Code:    "session_not_ready",
			Message: fmt.Sprintf("%d events came before session.created and did not fit in the queue: send them again", c.early.lost),
		}})
	}
	c.early = early{}
	return out
}

// answer carries out the request of an event.
func (c *Client) answer(o room.Origin, e wire.ClientEvent, s *coord.State) (out room.List) {
	switch e := e.(type) {
	case *wire.SessionUpdate:
		return c.update(o, e)
	case *wire.InputAudioBufferAppend:
		return c.Input.Append(e.Audio, s)
	case *wire.InputAudioBufferCommit:
		return c.Input.Commit(s)
	case *wire.InputAudioBufferClear:
		return c.Input.Clear()
	case *wire.OutputAudioBufferClear:
		if !c.Player.ServerPaced() {
			return room.Failed(&room.Failure{
				Code: "unsupported_event", Param: "type",
				Message: "output_audio_buffer.clear is for WebRTC: over a WebSocket the client holds the audio",
			})
		}
		c.Input.FixEnd()
		c.Survival.Cancel("")
		out.Step(coord.OfPlayout{Event: playout.Clear{}})
	case *wire.ConversationItemCreate:
		c.Input.FixEnd()
		return c.createItem(o, e)
	case *wire.ConversationItemDelete:
		return answered(c.Conversation.Delete(e.ItemID))
	case *wire.ConversationItemRetrieve:
		return answered(c.Conversation.Retrieve(e.ItemID, conversation.Formats{Input: c.Settings.InputFormat(), Output: c.Settings.OutputFormat()}))
	case *wire.ConversationItemTruncate:
		return c.truncateItem(e)
	case *wire.ResponseCreate:
		c.Input.FixEnd()
		return c.createResponse(o, e)
	case *wire.ResponseCancel:
		c.Input.FixEnd()
		c.Survival.Cancel(e.ResponseID)
		return c.cancelResponse(e.ResponseID)
	case *wire.AntiphonHello:
		return c.hello(o, e)
	case *wire.AntiphonBargeInCandidate:
		return c.reported(o, func() room.List { return c.candidate(e, s) })
	case *wire.AntiphonBargeInReady:
		return c.reported(o, func() room.List { return c.ready(e, s) })
	case *wire.AntiphonBargeInHeard:
		return c.reported(o, func() room.List { return c.heard(e, s) })
	case *wire.AntiphonRunReply, *wire.AntiphonRunCancel, *wire.AntiphonRunFollow:
		return c.Runs.Act(o, e)
	}
	return out
}

// answered returns the events of a change that a client has requested, or the error that says why it was refused.
func answered(events []wire.ServerEvent, refused *room.Failure) (out room.List) {
	if refused != nil {
		return room.Failed(refused)
	}
	out.SendAll(events)
	return out
}
