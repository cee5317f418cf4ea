package session

// The client's events about items of the conversation.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/session/conversation"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

func (s *Session) createItem(e *wire.ConversationItemCreate) {
	w := e.Item
	refused := conversation.Check(w)
	if refused == nil {
		refused = s.settings.MayAdd(&w, s.privileged())
	}
	if refused == nil {
		refused = s.conversation.Prepare(&w)
	}
	if refused != nil {
		s.report(refused)
		return
	}
	recording, refused := s.speech.TakeRecording(&w, s.settings.InputFormat())
	if refused != nil {
		s.report(refused)
		return
	}
	it, events, refused := s.conversation.Create(w, e.PreviousItemID)
	if s.changed(events, refused) && recording != nil {
		s.transcribe(it, recording)
	}
}

func (s *Session) deleteItem(e *wire.ConversationItemDelete) {
	if s.changed(s.conversation.Delete(e.ItemID)) {
		s.startWaiting()
	}
}

func (s *Session) retrieveItem(e *wire.ConversationItemRetrieve) {
	s.changed(s.conversation.Retrieve(e.ItemID, conversation.Formats{Input: s.settings.InputFormat(), Output: s.settings.OutputFormat()}))
}

func (s *Session) truncateItem(e *wire.ConversationItemTruncate) {
	it := s.conversation.Find(e.ItemID)
	var sent voice.Samples
	if it != nil {
		sent = s.sentOf(it)
	}
	if s.changed(s.conversation.Truncate(it, e, sent)) {
		s.clientStopped(it)
	}
}

// clientStopped: a client that plays by itself has cut the item off, so its playback is over.
func (s *Session) clientStopped(it *conversation.Item) {
	if r := s.replyOnAir(); r != nil && !s.player.ServerPaced() && r.over && slices.ContainsFunc(r.outputs, func(o *outputItem) bool { return o.it == it }) {
		s.step(coord.OfPlayout{Event: playout.Clear{}})
	}
}
