package session

// A session that goes on with a call after another session, mostly one of another process: what it ends for the client, how the agent goes on with its answer, and when it
// has a time of its own.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/action"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/format"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// codeMoved is the code of what has ended because another process goes on with the session.
const codeMoved = "session_moved"

// settleTime is how long a session that goes on waits for what its client says first, such as how far the user has heard an answer.
const settleTime = 300 * time.Millisecond

// continuation is an answer that was interrupted by the end of a process. The zero value is none.
type continuation struct {
	due   bool // an answer is due
	heard bool // the user has heard the beginning of one
	ready bool // the client is back, and has had time to say what it knows
}

// begins fills in what the settings say of the session itself: its id, and when it expires. A session that goes on with a call keeps both, unless more than half of its
// time is over: then it is a fresh one.
func (s *Session) begins(cfg *Config) {
	of, now := cfg.Kept.Restore, s.now()
	if of == nil {
		cfg.Settings.ID, cfg.Settings.ExpiresAt = s.id, now.Add(cfg.Longest).Unix()
		return
	}
	cfg.Settings = of.Settings
	expires := min(now.Add(cfg.Longest).Unix(), of.Call.End(cfg.Kept.Longest))
	s.fresh = time.Unix(of.Settings.ExpiresAt, 0).Sub(now) < cfg.Longest/2 && expires > of.Settings.ExpiresAt
	if s.fresh {
		cfg.Settings.ID, cfg.Settings.ExpiresAt = s.id, expires
	}
	s.id = cfg.Settings.ID
}

// restore gives the rooms what the journal knows. Nothing is sent.
func (s *Session) restore(of *journal.State) {
	s.conversation.Restore(of.Call.Conversation, of.Items, of.Last, of.Summary)
	s.client.Restore(of.Client, of.Taken, of.Sent)
	r := &s.recorder
	r.begun, r.newest, r.open = true, of.Newest(), of.Open
	r.known.client, r.known.summary, r.known.open = of.Client, of.Summary, of.Open
	s.conversation.Changes() // the journal has them
	s.runs.caller.Knew = s.runs.followed.restore(of.Runs)
}

// goOn ends what the process before has begun and cannot end.
func (s *Session) goOn() {
	s.step(coord.Configure{Config: s.client.MachineConfig()})
	if s.fresh {
		s.send(&wire.SessionUpdated{Session: s.settings.Current()})
	}
	open := s.recorder.open
	s.endTurn(open.Speech)
	lost := s.loseTranscripts()
	s.endCalls(&open)
	for _, r := range open.Responses {
		s.endResponse(r)
	}
	heard := s.cutUnheard(&open)
	if playing := open.Playing; playing != "" && s.player.ServerPaced() {
		s.send(&wire.OutputAudioBufferCleared{ResponseID: playing})
	}
	s.continuation = continuation{due: open.Answering && !lost || heard, heard: heard}
	for _, r := range s.runs.followed.runs {
		s.followAgain(r.ID)
	}
}

// endTurn ends the user's turn that was not committed: its audio is lost.
func (s *Session) endTurn(item string) {
	if item != "" {
		s.send(&wire.InputAudioBufferCleared{})
	}
}

// loseTranscripts ends the wait for transcripts whose audio is lost. lost reports that the newest message of the user is one of them.
func (s *Session) loseTranscripts() (lost bool) {
	for _, it := range s.conversation.LoseTranscripts() {
		s.send(&wire.ConversationItemInputAudioTranscriptionFailed{ItemID: it.ID, Error: wire.TranscriptionError{
			Type: "server_error", Code: codeMoved, Message: "the server that recognised this speech has ended: say it again",
		}})
		lost = lost || s.conversation.NewestOfUser() == it
	}
	return lost
}

// endCalls calls the tools of the server again that were running, where that may be done. The outcome of the other calls is unknown.
func (s *Session) endCalls(open *journal.Open) {
	inside := map[string]bool{} // items of a response that is still to be ended
	for _, r := range open.Responses {
		for _, o := range r.Items {
			inside[o.Item] = true
		}
	}
	for _, it := range s.conversation.Running() {
		if out, again := s.generator.CallAgain(it); again {
			s.log.Info("a tool of the server is called again", "tool", it.Name, "item", it.ID)
			s.do(out)
			continue
		}
		s.conversation.LoseOutcome(it)
		if !inside[it.ID] {
			for _, e := range s.conversation.Done(it) {
				s.send(e)
			}
		}
	}
}

// endResponse ends a response that the process before has not ended.
func (s *Session) endResponse(r journal.Response) {
	done := r.Response
	done.Status = "cancelled"
	done.StatusDetails = &wire.StatusDetails{Type: "cancelled", Reason: "client_cancelled", Error: &wire.StatusError{Type: "server_error", Code: codeMoved}}
	done.Output = make([]wire.Item, 0, len(r.Items))
	for _, o := range r.Items {
		it := s.conversation.Find(o.Item)
		if it == nil { // it is deleted, or of an out-of-band response
			continue
		}
		if !o.Done {
			s.endItem(done.ID, o, it)
		}
		done.Output = append(done.Output, it.Item)
	}
	s.send(&wire.ResponseDone{Response: done})
}

// endItem ends an output item that the process before has not ended.
func (s *Session) endItem(of string, o journal.OpenItem, it *conversation.Item) {
	switch it.Type {
	case wire.ItemMCPCall:
		if it.Running() { // it is called again, and done when the tool has ended
			s.send(&wire.ResponseOutputItemDone{ResponseID: of, OutputIndex: o.Index, Item: it.Item})
			return
		}
		s.conversation.LoseOutcome(it)
		s.send(&wire.ResponseMCPCallFailed{ItemID: it.ID, OutputIndex: o.Index})
	case wire.ItemFunctionCall:
		it.Status = "incomplete"
		s.send(&wire.ResponseFunctionCallArgumentsDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, CallID: it.CallID, Name: it.Name})
	default:
		said := it.Interrupt(o.Part == "audio")
		switch o.Part {
		case "audio":
			s.send(&wire.ResponseOutputAudioDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index})
			s.send(&wire.ResponseOutputAudioTranscriptDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, Transcript: said})
			s.send(&wire.ResponseContentPartDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, Part: wire.Part{Type: o.Part, Transcript: said}})
		case "text":
			s.send(&wire.ResponseOutputTextDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index})
			s.send(&wire.ResponseContentPartDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, Part: wire.Part{Type: o.Part}})
		}
	}
	s.send(&wire.ResponseOutputItemDone{ResponseID: of, OutputIndex: o.Index, Item: it.Item})
	for _, e := range s.conversation.Done(it) {
		s.send(e)
	}
}

// cutUnheard cuts the messages of the agent that the process before has not played to their end over WebRTC, at the position that the journal knows. It reports whether
// the rest of an answer is to be said.
func (s *Session) cutUnheard(open *journal.Open) (rest bool) {
	if !s.player.ServerPaced() {
		return len(open.Responses) > 0
	}
	if open.Playing == "" && len(open.Responses) == 0 {
		return false
	}
	for _, it := range s.unheard(open) {
		ms := 0
		if uint64(it.Num()) == open.Heard.Item {
			ms = int(open.Heard.MS)
		}
		if left := it.Length() - voice.SamplesIn(int64(ms), format.OutputRate); it.Status == "completed" && left <= voice.SamplesIn(heardEvery.Milliseconds(), format.OutputRate) {
			continue
		}
		rest = true
		for _, e := range s.conversation.Cut(it, ms) {
			s.send(e)
		}
	}
	return rest
}

// unheard returns the spoken messages that play or wait for it, in the order of the conversation.
func (s *Session) unheard(open *journal.Open) []*conversation.Item {
	if open.Heard.Item != 0 {
		return s.conversation.SpokenFrom(open.Heard.Item)
	}
	var out []*conversation.Item
	for _, r := range open.Responses {
		for _, o := range r.Items {
			if it := s.conversation.Find(o.Item); it != nil && o.Part == "audio" {
				out = append(out, it)
			}
		}
	}
	return out
}

// Returned reports that the client of a session that goes on here is connected.
func (s *Session) Returned() {
	if s.cfg.Kept.Restore != nil {
		s.cfg.Env.AfterFunc(settleTime, func() { s.post(clientSettled{}) })
	}
}

// goOnNote tells the model why it is asked again.
const goOnNote = "\n\nA technical fault has cut off your last answer; the user has not interrupted you. The user has heard only the part of it that is written above. " +
	"Go on exactly where it stops. Repeat nothing, and do not mention the fault."

// continueAnswer begins the response that goes on with an interrupted answer, once nobody speaks. A turn of the user that is open takes its place.
func (s *Session) continueAnswer() action.List {
	if !s.continuation.due || !s.continuation.ready || s.generator.CallsAgain() {
		return nil
	}
	state := &s.machines.state
	_, live := state.Conn.(conn.Live)
	_, quiet := state.Turn.(turn.Idle)
	_, free := state.Response.(response.Idle)
	if quiet && state.Waiting == 0 && !(live && free) {
		return nil // later
	}
	heard := s.continuation.heard
	s.continuation = continuation{}
	if !quiet || state.Waiting != 0 || !free || !s.settings.Responds() {
		return nil
	}
	var p wire.ResponseParams
	if heard && s.conversation.EndsInterrupted() {
		instructions := s.settings.Current().Instructions + goOnNote
		p.Instructions = &instructions
	}
	return s.client.RespondWith(p)
}
