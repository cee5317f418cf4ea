package sdk

// A new conversation in place of one that the server has lost: it begins with the words of the transcript.

import (
	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
	"github.com/antiphon-rt/antiphon/wire"
)

// beginNewConversation gives up the conversation that the server has lost. The transcript stays. The messages that the user
// wrote and the server has not taken wait for the new conversation.
func (s *Session) beginNewConversation(c *call) {
	s.trace("the conversation was lost: another one begins with its words")
	c.recovery.Fresh, c.resume.After = true, ""
	untaken := map[string]bool{}
	for _, l := range c.outgoing.Sent {
		it := s.items.Find(l.Intent.Item)
		untaken[l.Intent.Item] = it != nil && it.Live
	}
	c.outgoing.KeepMessages(untaken)
	sound, _ := s.dialog.Sound()
	s.items.CloseLive(sound)
	for _, l := range c.outgoing.Waiting {
		if it := s.items.Find(l.Intent.Item); it != nil {
			it.Live = true
		}
	}
	s.items.Changed = true
	s.server.session, s.server.machines = serverSession{}, MachinesUnknown
	s.resetDialog()
	s.tools.ConversationLost()
	s.intents = outgoing.NewIntents()
	s.manual.committing = false
}

// newConversationStands goes on when the server has created the session of the new conversation.
func (s *Session) newConversationStands() {
	c := s.call
	c.recovery.Fresh = false
	s.phase = phaseLive // the events that follow go out now, before those that wait
	s.sendHello()
	s.sendTranscript()
	s.followRuns()
	if s.call != c || s.phase != phaseLive {
		return
	}
	s.connectionCarries()
	s.err = ErrBegunAnew
}

// sendTranscript gives the new conversation the words of the lost one.
func (s *Session) sendTranscript() {
	waiting := map[string]bool{}
	for _, l := range s.call.outgoing.Waiting {
		waiting[l.Intent.Item] = true
	}
	for _, it := range s.items.CarryOver(waiting) {
		role, kind := "user", wire.ContentInputText
		if it.Role == transcript.Agent {
			role, kind = "assistant", wire.ContentOutputText
		}
		s.send("conversation.item.create", writeText(newMessage(it.ID, role), kind, it.Text).EndList().EndObject(), outgoing.Intent{Kind: outgoing.CarriedOver, Item: it.ID})
	}
}

// noteUndelivered notes on each message that waits that it was not delivered, and on each sent message without an answer that it
// may not have been.
func (s *Session) noteUndelivered(c *call) {
	say := func(events []outgoing.Event, note string) {
		for _, l := range events {
			it := s.items.Find(l.Intent.Item)
			if it != nil && it.Live && l.Intent.Kind == outgoing.Message {
				s.items.Annotate(it, note, true)
				s.items.Settle(it)
			}
		}
	}
	say(c.outgoing.TakeWaiting(), "not delivered: the connection was lost")
	say(c.outgoing.Sent, "perhaps not delivered: the connection was lost")
}
