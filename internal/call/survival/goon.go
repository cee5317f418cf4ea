package survival

// A session that continues the call of another session, mostly one of another process: what it ends for the client, and when it gets a new id and a new end.

import (
	"slices"
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/coord/continuation"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// Begin returns the first settings of the session: first, with its id and when it expires. A session that goes on with a call keeps the settings of the session before,
// its id and when it expires too, unless more than half of its time is over: then it is a fresh one. longest is how long a session may be, and longestCall the call.
func (s *Survival) Begin(first wire.Session, id string, longest, longestCall time.Duration) wire.Session {
	of, now := s.Restored, s.Env.Now()
	if of == nil {
		first.ID, first.ExpiresAt = id, now.Add(longest).Unix()
		return first
	}
	first = of.Settings
	expires := min(now.Add(longest).Unix(), of.Call.End(longestCall))
	s.fresh = time.Unix(of.Settings.ExpiresAt, 0).Sub(now) < longest/2 && expires > of.Settings.ExpiresAt
	if s.fresh {
		first.ID, first.ExpiresAt = id, expires
	}
	return first
}

// Restore gives the rooms what the journal knows. Nothing is sent.
func (s *Survival) Restore() {
	of := s.Restored
	s.Conversation.Restore(of.Call.Conversation, of.Items, of.Last, of.Summary)
	s.Settings.Client = of.Client
	s.Settings.SetTimeZone(of.Client.TimeZone)
	s.Reconnects.Store(true)
	s.taken = of.Taken
	s.sent.restore(of.Sent)
	s.begun, s.newest, s.open = true, of.Newest(), of.Open
	if a := of.Answer; a != (journal.Answer{}) && !a.Over {
		s.going.newest, s.going.answers[1] = 1, journal.Answer{Response: a.Response, Asked: a.Asked}
		s.step(continuation.Kept{Due: a.Due, Heard: a.Heard}, nil)
	}
	s.known.client, s.known.summary, s.known.open, s.known.answer = of.Client, of.Summary, of.Open, of.Answer
	s.Conversation.Changes() // the journal has them
	s.Runs.Restore(of.Runs)
}

// Opened notes that the session has opened. It ends what the session before has begun and cannot end.
func (s *Survival) Opened() (out room.List) {
	s.opened = true
	if s.Restored == nil {
		return nil
	}
	out.Step(coord.Configure{Config: s.Settings.MachineConfig(s.Player.ServerPaced())})
	if s.fresh {
		out.Send(&wire.SessionUpdated{Session: s.Settings.Current()})
	}
	open := s.open
	lost, newest := s.loseTranscripts()
	calls := s.endCalls(&open)
	for _, r := range open.Responses {
		calls = append(calls, s.step(continuation.Lost{Called: speaking.Called(r)}, nil, r)...)
	}
	cut, heard := s.cutUnheard(&open)
	unknown := s.Restored.Answer == journal.Answer{} && open.Answering // the version before has not kept what was asked
	out = append(out, s.step(continuation.TakenOver{
		Speech: open.Speech != "" || open.Buffered, Words: len(lost) > 0, Newest: newest, Under: open.Answering, Heard: heard, Queued: open.Queued || unknown,
	}, lost)...)
	out = append(append(out, calls...), cut...)
	if playing := open.Playing; playing != "" && s.Player.ServerPaced() {
		out.Send(&wire.OutputAudioBufferCleared{ResponseID: playing})
	}
	if s.going.back {
		s.Settled()
	}
	return out
}

// loseTranscripts ends the wait for transcripts whose audio is lost. newest reports that the newest message of the user is one of them.
func (s *Survival) loseTranscripts() (out room.List, newest bool) {
	for _, it := range s.Conversation.LoseTranscripts() {
		out.Send(&wire.ConversationItemInputAudioTranscriptionFailed{ItemID: it.ID, Error: wire.TranscriptionError{
			Type: "server_error", Code: room.CodeMoved, Message: "the server that recognised this speech has ended: say it again",
		}})
		newest = newest || s.Conversation.NewestOfUser() == it
	}
	return out, newest
}

// endCalls calls the tools of the server again that were running, where that may be done. The outcome of the other calls is unknown.
func (s *Survival) endCalls(open *journal.Open) (out room.List) {
	inside := map[string]bool{} // items of a response that is still to be ended
	for _, r := range open.Responses {
		for _, o := range r.Items {
			inside[o.Item] = true
		}
	}
	for _, it := range s.Conversation.Running() {
		if called, again := s.Generator.CallAgain(it); again {
			s.Log.Info("a tool of the server is called again", "tool", it.Name, "item", it.ID)
			out = append(out, called...)
			continue
		}
		s.Conversation.LoseOutcome(it)
		if !inside[it.ID] {
			out.SendAll(s.Conversation.Done(it))
		}
	}
	return out
}

// cutUnheard cuts the messages of the agent that the process before has not played to their end over WebRTC, at the position that the journal knows. It reports whether
// the rest of an answer is to be said.
func (s *Survival) cutUnheard(open *journal.Open) (out room.List, rest bool) {
	if !s.Player.ServerPaced() {
		return nil, slices.ContainsFunc(open.Responses, func(r journal.Response) bool { return r.Response.ConversationID != nil })
	}
	if open.Playing == "" && len(open.Responses) == 0 {
		return nil, false
	}
	for _, it := range s.unheard(open) {
		ms := 0
		if uint64(it.Num()) == open.Heard.Item {
			ms = int(open.Heard.MS)
		}
		if left := it.Length() - voice.SamplesIn(int64(ms), room.OutputRate); it.Status == "completed" && left <= voice.SamplesIn(heardEvery.Milliseconds(), room.OutputRate) {
			continue
		}
		rest = true
		out.SendAll(s.Conversation.Cut(it, ms))
	}
	return out, rest
}

// unheard returns the spoken messages that play or wait for it, in the order of the conversation.
func (s *Survival) unheard(open *journal.Open) []*conversation.Item {
	if open.Heard.Item != 0 {
		return s.Conversation.SpokenFrom(open.Heard.Item)
	}
	var out []*conversation.Item
	for _, r := range open.Responses {
		for _, o := range r.Items {
			if it := s.Conversation.Find(o.Item); it != nil && o.Part == "audio" {
				out = append(out, it)
			}
		}
	}
	return out
}

// SettleTime is how long a session that goes on waits, once its client is connected, for what the client says first, such as how far the user has heard an answer.
const SettleTime = 300 * time.Millisecond
