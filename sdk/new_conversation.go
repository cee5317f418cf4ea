package sdk

import "github.com/antiphon-rt/antiphon/wire"

// Bounds of the words that a new conversation begins with, the newest of the one that was lost.
const maxCarriedOver, maxCarriedOverBytes = 100, 256 << 10

// beginNewConversation gives the server's conversation up, which is lost. The transcript stays; another conversation begins with its words.
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

// startOver drops what runs for a conversation that is gone: its answers would be nobody's.
func (t *toolbox) startOver() {
	t.epoch++
	t.oldest = t.epoch
	t.queue, t.wants, t.tries, t.untaken = nil, false, 0, 0
}

// newConversationStands: the server has made the session of the new conversation.
func (s *Session) newConversationStands() {
	c := s.call
	c.recovery.fresh = false
	s.phase = phaseLive // what follows goes out now, before what waits
	s.sendHello()
	s.sendTranscript()
	if s.call != c || s.phase != phaseLive {
		return
	}
	s.linkCarries()
	s.err = ErrBegunAnew
}

// sendTranscript gives the new conversation the words of the one that was lost.
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

// lossNote stands beside the last line before the loss.
const lossNote = "The connection was lost here. The agent knows the words so far, and nothing else of them."

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

// noteUndelivered says of every message that waits that it will not reach the server any more, and of every one that was sent and
// that the server has not taken that nobody knows.
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
