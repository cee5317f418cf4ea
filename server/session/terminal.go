package session

import (
	"errors"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/conversation"
	"github.com/antiphon-rt/antiphon/server/session/ratelimit"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// terminal closes what is open and announces the end. What the body still says is not told any more.
func (s *Session) terminal(r *reply, status response.Status) {
	itemStatus := statusIncomplete
	if status == response.Completed {
		itemStatus = statusCompleted
	}
	for _, o := range r.outputs {
		s.closeOutput(r, o, itemStatus)
	}
	r.over, r.status = true, status
	r.object.Status, r.object.StatusDetails = s.ending(r, status)
	r.object.Output = make([]wire.Item, 0, len(r.outputs))
	for _, o := range r.outputs {
		r.object.Output = append(r.object.Output, o.it.Item)
	}
	r.object.Usage = s.usage(r)
	s.send(&wire.ResponseDone{Response: r.object})
	s.again(spent{r.object.Usage.TotalTokens}) // clients want the truncation right after the response
	s.saidAll(r)
	if r.beside != nil {
		s.forget(r)
		return
	}
	if !s.player.ServerPaced() { // what has not gone out would be audio after the response's end
		s.takeBack(r)
	}
	unheard := s.player.ResponseEnded(r.track)
	if r.object.Status == statusCancelled && status != response.SessionEnded && r.spoken && unheard {
		// Nobody heard a word of it: the model must not remember any (openai-agents-js#523).
		s.truncate(r, playout.Mark{})
	}
	if !r.track.Begun() { // else they wait for the end of the playback
		s.turnMetrics(r)
		s.armIdle()
	}
	s.forget(r)
}

// ending is the protocol's status and its details.
func (s *Session) ending(r *reply, status response.Status) (string, *wire.StatusDetails) {
	switch status {
	case response.Incomplete:
		return statusIncomplete, &wire.StatusDetails{Type: statusIncomplete, Reason: "max_output_tokens"}
	case response.Failed:
		return statusFailed, &wire.StatusDetails{Type: statusFailed, Error: stageError(r)}
	case response.TurnDetected:
		return statusCancelled, &wire.StatusDetails{Type: statusCancelled, Reason: "turn_detected"}
	case response.ClientCancelled, response.SessionEnded:
		return statusCancelled, &wire.StatusDetails{Type: statusCancelled, Reason: "client_cancelled"}
	case response.Completed:
	}
	return statusCompleted, nil
}

func stageError(r *reply) *wire.StatusError {
	e := &wire.StatusError{Type: "server_error", Code: "pipeline_failed"}
	var limit *ratelimit.Error
	if errors.As(r.textErr, &limit) {
		return &wire.StatusError{Type: typeInvalid, Code: ratelimit.Code}
	}
	if errors.Is(r.textErr, conversation.ErrTooLong) {
		return &wire.StatusError{Type: typeInvalid, Code: conversation.CodeTooLong}
	}
	var stage *pipeline.StageError
	if errors.As(r.textErr, &stage) || errors.As(r.voiceErr, &stage) {
		e.Code = stage.Stage + "_failed"
	}
	return e
}

// truncate cuts r's messages at what was heard and tells the client, once.
func (s *Session) truncate(r *reply, end playout.Mark) {
	if r.cut {
		return
	}
	r.cut = true
	beyond := end.Item == 0
	for _, o := range r.outputs {
		if o.it.Type != wire.ItemMessage {
			continue
		}
		switch {
		case o.it.Num() == end.Item:
			s.sendAll(s.conversation.Cut(o.it, int(end.MS)))
			beyond = true
		case beyond:
			s.sendAll(s.conversation.Cut(o.it, 0))
		}
	}
}

// takeBack counts what a client that plays by itself was not sent of r, and will not be, as never said: it cannot cut there.
func (s *Session) takeBack(r *reply) {
	for _, o := range r.outputs {
		o.it.TakeBack(s.player.SentOf(r.track, o.start, o.it.Length()))
	}
}

// sentOf is how much of an item's audio the client has.
func (s *Session) sentOf(it *conversation.Item) voice.Samples {
	for _, r := range s.replies {
		for _, o := range r.outputs {
			if o.it == it {
				return s.player.SentOf(r.track, o.start, it.Length())
			}
		}
	}
	return it.Length()
}

// spent is what a response has cost, in tokens.
type spent struct{ tokens int }

// spend takes the tokens of a response from the budget and tells the client what is left.
func (s *Session) spend(tokens int) {
	if left := s.cfg.Limits.Spend(tokens); left != nil && !s.released {
		s.send(&wire.RateLimitsUpdated{RateLimits: left})
	}
}

// forget lets go of a reply, once the event in hand is dealt with, if nothing needs it any more.
func (s *Session) forget(r *reply) { s.again(forgetReply{r.id}) }

// forgetReply asks whether a reply may be forgotten.
type forgetReply struct{ id response.ID }

func (s *Session) forgetNow(id response.ID) {
	if r := s.replies[id]; r != nil && r.over && !s.bodyRuns(r) && !s.player.Awaits(r.track, &s.state) {
		delete(s.replies, id)
	}
}

// bodyRuns: r's goroutines have not all reported.
func (s *Session) bodyRuns(r *reply) bool {
	if r.beside != nil {
		return r.beside.runs()
	}
	switch st := s.state.Response.(type) {
	case response.Active:
		return st.ID == r.id
	case response.Draining:
		return st.Old == r.id
	case response.Replacing:
		return st.Old == r.id || st.Next == r.id
	case response.Terminating:
		return st.Old == r.id
	case response.Idle, response.Terminated:
	}
	return false
}

// lastMessage is the message that the newest audio belongs to.
func (r *reply) lastMessage() *outputItem {
	for i := len(r.outputs) - 1; i >= 0; i-- {
		if r.outputs[i].it.Type == wire.ItemMessage {
			return r.outputs[i]
		}
	}
	return nil
}
