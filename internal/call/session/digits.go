package session

// Keys of a telephone: an event for the clients, and text for the model.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// Digits says what a session does with keys of a telephone, in addition to the event for the clients.
type Digits string

// What a session does with keys.
const (
	// DigitsToModel adds the keys to the conversation as text of the user, after a pause or at the key #, and has the model answer. It is
	// the default.
	DigitsToModel Digits = "model"
	// DigitsAsEvents does no more.
	DigitsAsEvents Digits = "events"
	// DigitsSensitive keeps the keys, for example those of a credit card, out of the model, logs, recorded events and logbooks.
	DigitsSensitive Digits = "sensitive"
)

const (
	// digitsPause is how long after a key the user has finished.
	digitsPause = 2 * time.Second
	// maxDigits is how many keys an item has at most.
	maxDigits = 64
)

// keypad has the keys that the user has pressed and the model does not know yet.
type keypad struct {
	keys   string
	timers *env.Timers
}

// Digit reports a key of a telephone: 0 to 9, *, #, A to D.
func (s *Session) Digit(digit byte) {
	s.post(digitPressed{string(digit), s.cfg.Options.Digits == "" || s.cfg.Options.Digits == DigitsToModel})
}

// secretDigit sends a key to the clients, and nowhere else. It reports false for an event that is no key, or may be recorded.
func (s *Session) secretDigit(e event) bool {
	d, is := e.(digitPressed)
	if !is || s.cfg.Options.Digits != DigitsSensitive {
		return false
	}
	told := s.digit(d)
	told.SetID(env.System().NewID("event_")) // the ids of the session's own source are in its logbook
	if err := s.link.Send(link.Encode(told), nil); err != nil {
		s.log.Debug("the client does not take events", "err", err)
	}
	return true
}

func (s *Session) digit(d digitPressed) *wire.InputAudioBufferDTMFEventReceived {
	return &wire.InputAudioBufferDTMFEventReceived{Event: d.key, ReceivedAt: int(s.cfg.Env.Now().Unix())}
}

// pressed takes a key. Before the session is announced nobody answers keys.
func (s *Session) pressed(d digitPressed) {
	if !conn.Up(s.machines.state.Conn) {
		return
	}
	s.send(s.digit(d))
	if !d.toModel {
		return
	}
	s.client.keypad.keys += d.key
	if d.key == "#" || len(s.client.keypad.keys) == maxDigits {
		s.dialled()
		return
	}
	s.client.keypad.timers.Start("digits", digitsPause, func() { s.post(digitsDue{}) })
}

// dialled gives the model the keys: they end what the agent says, and the model answers if it answers turns.
func (s *Session) dialled() {
	s.client.keypad.timers.Stop("digits")
	keys := s.client.keypad.keys
	if s.client.keypad.keys = ""; keys == "" {
		return
	}
	var out room.List
	if _, free := s.machines.state.Response.(response.Idle); !free {
		out.Step(coord.OfResponse{Event: response.Cancel{}})
	}
	if _, silent := s.machines.state.Playout.(playout.Silent); !silent {
		out.Step(coord.OfPlayout{Event: playout.Clear{}})
	}
	out.Then(func(st *coord.State) room.List {
		out := s.client.createItem(room.Origin{}, &wire.ConversationItemCreate{Item: wire.Item{
			Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: "DTMF: " + keys}},
		}})
		detection := s.settings.TurnDetection()
		_, quiet := st.Turn.(turn.Idle)
		if detection == nil || !detection.CreateResponse || !quiet {
			return out // the answer to the user's speech has the keys, too
		}
		return append(out, s.client.createResponse(room.Origin{}, &wire.ResponseCreate{})...)
	})
	s.do(out)
}
