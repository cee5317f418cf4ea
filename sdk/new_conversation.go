package sdk

// A new conversation in place of one that the server has lost: it begins with the words of the transcript.

import "github.com/antiphon-rt/antiphon/wire"

// maxCarriedOver and maxCarriedOverBytes bound the words that a new conversation begins with: the newest of the lost one.
const maxCarriedOver, maxCarriedOverBytes = 100, 256 << 10

// beginNewConversation gives up the conversation that the server has lost. The transcript stays. The messages that the user
// wrote and the server has not taken wait for the new conversation.
func (s *Session) beginNewConversation(c *call) {
	s.trace("the conversation was lost: another one begins with its words")
	c.recovery.fresh, c.seen = true, ""
	c.outgoing.keepMessages(func(id string) bool {
		it := s.items.find(id)
		return it != nil && it.entry.Live
	})
	s.items.closeLive(s.dialog.sound)
	for _, l := range c.outgoing.waiting {
		if it := s.items.find(l.in.item); it != nil {
			it.entry.Live = true
		}
	}
	s.items.changed()
	s.server.session, s.server.machines = serverSession{}, MachinesUnknown
	s.dialog = newDialogState(s.viewStepped)
	s.tools.startOver()
	s.pending = newPending()
	s.manual.committing = false
}

// startOver drops the tool calls of a lost conversation. The server could not take their results.
func (t *toolbox) startOver() {
	t.epoch++
	t.oldest = t.epoch
	t.queue, t.wants, t.tries, t.untaken = nil, false, 0, 0
}

// newConversationStands goes on when the server has created the session of the new conversation.
func (s *Session) newConversationStands() {
	c := s.call
	c.recovery.fresh = false
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
	for _, l := range s.call.outgoing.waiting {
		waiting[l.in.item] = true
	}
	var told []*item
	bytes := 0
	for i := len(s.items.items) - 1; i >= 0 && len(told) < maxCarriedOver; i-- {
		it := s.items.items[i]
		e := &it.entry
		if it.hidden || e.Role == ToolUse || e.Failed || e.Text == "" || waiting[it.id] {
			continue
		}
		if bytes += len(e.Text); bytes > maxCarriedOverBytes {
			break
		}
		told = append(told, it)
	}
	for i := len(told) - 1; i >= 0; i-- {
		it := told[i]
		it.carriedOver = true
		role, kind := "user", wire.ContentInputText
		if it.entry.Role == Agent {
			role, kind = "assistant", wire.ContentOutputText
		}
		s.send("conversation.item.create", writeText(newMessage(it.id, role), kind, it.entry.Text).EndList().EndObject(), intent{kind: intentCarriedOver, item: it.id})
	}
	s.markLoss(waiting)
}

// lossNote is the note of the last entry before the loss.
const lossNote = "The connection was lost here. The agent knows the words so far, and nothing else of them."

// markLoss puts lossNote on the last entry that the server had. waiting has the items that go to the new conversation.
func (s *Session) markLoss(waiting map[string]bool) {
	for i := len(s.items.items) - 1; i >= 0; i-- {
		it := s.items.items[i]
		if it.hidden || waiting[it.id] {
			continue
		}
		note := lossNote
		if it.entry.Note != "" && it.entry.Note != lossNote {
			note = it.entry.Note + " " + lossNote
		}
		s.items.note(it, note, it.entry.Failed)
		return
	}
}

// noteUndelivered notes on each message that waits that it was not delivered, and on each sent message without an answer that it
// may not have been.
func (s *Session) noteUndelivered(c *call) {
	say := func(letters []outgoingEvent, note string) {
		for _, l := range letters {
			it := s.items.find(l.in.item)
			if it != nil && it.entry.Live && l.in.kind == intentMessage {
				s.items.note(it, note, true)
				s.items.settle(it)
			}
		}
	}
	say(c.outgoing.takeWaiting(), "not delivered: the connection was lost")
	say(c.outgoing.sent, "perhaps not delivered: the connection was lost")
}
