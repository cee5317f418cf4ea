package sdk

// Server events about responses.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
	"github.com/antiphon-rt/antiphon/wire"
)

// bytesPerSecond is the rate of the sound in messages: 24 kHz, 16 bit, mono.
const bytesPerSecond = 48000

// responseEvent handles an event about a response. Events that no page shows do nothing.
func (s *Session) responseEvent(e *serverEvent) {
	now := s.clock.Now()
	switch e.kind {
	case "antiphon.response.progress":
		s.server.progress = e.text
	case "response.created":
		s.server.progress = ""
		s.responseCreated(&e.response)
	case "response.done":
		s.responseDone(&e.response)
	case "response.output_item.added":
		if e.item.ID != "" {
			s.items.OutputAdded(e.item, e.responseID)
		}
	case "response.output_item.done":
		s.outputDone(e)
	case "response.content_part.added":
		it := s.items.Open(e.itemID, transcript.Agent)
		it.Spoken = it.Spoken || e.part == "audio"
		s.items.Changed = true
	case "response.output_text.delta", "response.output_audio_transcript.delta":
		s.outputText(e.itemID, e.index, e.text, true)
	case "response.output_text.done", "response.output_audio_transcript.done":
		s.outputText(e.itemID, e.index, e.text, false)
	case "response.output_audio.delta":
		s.outputSound(e)
	default:
		return
	}
	s.dialog.ResponseGoesOn(now)
	s.dirty = true
}

func (s *Session) responseCreated(r *wire.Response) {
	if r.ConversationID == nil && s.dialog.Confirmed().Live != 0 {
		return // it is an out-of-band response
	}
	now := s.clock.Now()
	s.sound.stopped()
	unwanted := s.dialog.ResponseCreated(r.ID, now)
	s.measurement.answer(r.ID)
	s.tools.Answered()
	s.err = nil
	if unwanted {
		s.stopAgent()
	}
}

func (s *Session) responseDone(r *wire.Response) {
	if !s.dialog.IsLive(r.ID) {
		return
	}
	_, plays := s.call.peer.(Player)
	cut := r.Status == "cancelled" && (plays || endsSound(r.StatusDetails))
	if cut {
		s.bargeIn(s.barge.Cut(r.ID, r.StatusDetails != nil && r.StatusDetails.Reason == "turn_detected", s.moment()))
	}
	s.dialog.ResponseDone(r.ID, s.clock.Now())
	s.items.SettleResponse(r.ID)
	switch {
	case cut:
		s.wordsEnded(r.ID, true)
	case !s.heard.spoken.Sounds(r.ID):
		s.allHeard(r.ID) // nothing of it is spoken
	}
	if p, ok := s.call.peer.(Player); ok {
		if r.Status == "cancelled" {
			s.stopPlayer()
		} else {
			p.Finish(r.ID)
		}
	}
	switch r.Status {
	case "cancelled":
		s.items.Interrupted(r.Output)
	case "failed", "incomplete":
		s.responseFailed(r)
	}
}

// endsSound reports whether the server has cut the sound of a cancelled response, too: the user has interrupted it, or its server is gone. The sound of another one,
// such as one that a side-band controller has cancelled, goes on until the server says that it ends.
func endsSound(d *wire.StatusDetails) bool {
	return d == nil || d.Reason == "turn_detected" || d.Error != nil
}

// responseFailed shows why a response failed or is incomplete.
func (s *Session) responseFailed(r *wire.Response) {
	problem := &ServerError{Type: r.Status}
	if d := r.StatusDetails; d != nil {
		problem.Code = d.Reason
		if d.Error != nil {
			problem.Type, problem.Code = d.Error.Type, d.Error.Code
		}
	}
	note := "the answer failed"
	if r.Status == "incomplete" {
		note = "the answer is not complete"
	}
	if problem.Code != "" {
		note += ": " + problem.Code
	}
	problem.Message = note
	if r.Status == "failed" {
		s.err = problem
	}
	s.items.AnnotateResponse(r.ID, note)
}

func (s *Session) outputDone(e *serverEvent) {
	if e.item.ID == "" {
		return
	}
	s.items.OutputDone(&e.item, e.responseID)
	if e.item.Type == wire.ItemFunctionCall && e.item.Status == "completed" {
		s.runTool(&e.item)
	}
}

// outputText takes text of a response: more of it, or with more false the whole part.
func (s *Session) outputText(id string, index int, text string, more bool) {
	s.items.Part(s.items.Open(id, transcript.Agent), index, text, more)
	if text != "" {
		s.measurement.text(s.clock.Now())
	}
}

// outputSound gives the sound of a response to the Player.
func (s *Session) outputSound(e *serverEvent) {
	s.items.Sounded(e.itemID, time.Duration(len(e.sound))*time.Second/bytesPerSecond)
	if p, ok := s.call.peer.(Player); ok && s.dialog.IsLive(e.responseID) {
		p.Play(e.responseID, e.itemID, e.index, e.sound)
	}
}
