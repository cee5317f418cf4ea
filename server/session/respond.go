package session

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

var errTooManyClauses = errors.New("the response is longer than the voice takes")

// cause is what a response is for: the client's request, or else a turn.
type cause struct {
	request *wire.ResponseParams
	turn    *userTurn
}

// created announces a response: the client's, when its request is in hand, or a turn's; or one that was taken away by an
// interruption that was none, which is for what that one was for.
func (s *Session) created(id response.ID) {
	why := cause{request: s.request}
	if why.request == nil {
		why.turn = s.answering
	}
	if why == (cause{}) {
		why = s.latest
	}
	s.latest, s.request, s.answering = why, nil, nil
	r := &reply{id: id, request: why.request, turn: why.turn, splitter: pipeline.NewClauses(), saying: map[uint32]spoken{}}
	set := &s.settings
	conversation := s.id
	r.object = wire.Response{
		ID: newID("resp_"), Status: statusInProgress, ConversationID: &conversation,
		OutputModalities: set.OutputModalities, MaxOutputTokens: set.MaxOutputTokens,
		Audio: &wire.ResponseAudio{Format: set.Audio.Output.Format, Voice: set.Audio.Output.Voice},
	}
	if q := r.request; q != nil {
		if q.OutputModalities != nil {
			r.object.OutputModalities = q.OutputModalities
		}
		if q.MaxOutputTokens != nil {
			r.object.MaxOutputTokens = *q.MaxOutputTokens
		}
		if q.Audio != nil && q.Audio.Voice != "" {
			r.object.Audio.Voice = q.Audio.Voice
		}
		r.object.Metadata = q.Metadata
	}
	r.spoken = len(r.object.OutputModalities) > 0 && r.object.OutputModalities[0] == "audio" && s.canSpeak()
	if !r.spoken {
		r.object.OutputModalities, r.object.Audio = []string{"text"}, nil
	}
	s.replies[id] = r
	s.send(&wire.ResponseCreated{Response: r.object})
}

// canSpeak: the pipeline has a voice. Without one every answer is text.
func (s *Session) canSpeak() bool {
	for _, c := range s.cfg.Pipeline.Components() {
		if c.Stage == pipeline.StageSynthesizer && (c.State == pipeline.StateMissing || c.State == pipeline.StateFailed) {
			return false
		}
	}
	return true
}

// startWaiting starts the body that waits, once every transcript that it must read is there.
func (s *Session) startWaiting() {
	r := s.starting
	if r == nil || s.conversation.pending() {
		return
	}
	s.starting, s.running = nil, r
	set := &s.settings
	speech := pipeline.Utterance{Voice: set.Audio.Output.Voice, Speed: set.Audio.Output.Speed}
	if r.object.Audio != nil {
		speech.Voice = r.object.Audio.Voice
	}
	r.body = startBody(s.ctx, &s.workers, s.cfg.Pipeline, r.id, s.modelRequest(r), speech, s.queue.post)
}

// modelRequest is everything the model gets: a snapshot.
func (s *Session) modelRequest(r *reply) pipeline.Request {
	set := &s.settings
	q := pipeline.Request{
		Model: set.Model, Instructions: set.Instructions, Messages: s.conversation.messages(),
		MaxOutputTokens: r.object.MaxOutputTokens.N, Parallel: set.ParallelToolCalls, Voice: r.spoken,
	}
	tools, choice := set.Tools, set.ToolChoice
	if p := r.request; p != nil {
		if p.Instructions != nil {
			q.Instructions = *p.Instructions
		}
		if p.HasTools {
			tools = p.Tools
		}
		if p.ToolChoice != nil {
			choice = p.ToolChoice
		}
		if p.ParallelToolCalls != nil {
			q.Parallel = *p.ParallelToolCalls
		}
		if p.HasInput {
			q.Messages = s.inputMessages(p.Input)
		}
	}
	q.ToolChoice = toolChoice(choice)
	if r.turn != nil && r.turn.wordless {
		q.Messages = append(q.Messages, pipeline.Message{Role: pipeline.RoleSystem, Text: stillThere})
	}
	for _, t := range tools {
		if t.Type == "function" {
			q.Tools = append(q.Tools, pipeline.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
	}
	return q
}

// stillThere is what the model reads when idle_timeout_ms has passed.
const stillThere = "The user has said nothing for a while. Ask whether they are still there."

// inputMessages is a response's own input: items, and references to those of the conversation.
func (s *Session) inputMessages(items []wire.Item) []pipeline.Message {
	var out []pipeline.Message
	for _, w := range items {
		if w.Type == wire.ItemReference {
			it, _ := s.conversation.find(w.ID)
			if it == nil {
				continue
			}
			w = it.Item
		}
		if m, ok := message(w); ok {
			out = append(out, m)
		}
	}
	return out
}

// --- what a body reports

func (s *Session) fromBody(e any) {
	switch e := e.(type) {
	case bodyDelta:
		if r := s.replies[e.id]; r != nil {
			s.modelSays(r, e.ev)
		}
	case bodyAudio:
		if r := s.replies[e.id]; r != nil {
			s.voiceSays(r, e.clause, e.pcm)
		}
	case bodyClauseSaid:
		if r := s.replies[e.id]; r != nil {
			s.clauseSaid(r, e.clause)
		}
	case bodyTextEnded:
		r := s.replies[e.id]
		r.usage, r.textErr = e.usage, e.err
		if r.spoken && !r.over {
			for _, c := range r.splitter.Flush() {
				s.enqueue(r, c)
			}
		}
		s.step(coord.OfSynthesis{Event: synthesis.Finish{}})
	case bodyVoiceEnded:
		r := s.replies[e.id]
		if r.voiceErr == nil {
			r.voiceErr = e.err
		}
		if e.err != nil {
			r.body.cancel() // nobody listens to the rest of the text
		}
		s.step(coord.OfSynthesis{Event: synthesis.WorkerExited{}})
	case bodyOver:
		s.bodyOver(s.replies[e.id])
	}
}

func (s *Session) bodyOver(r *reply) {
	if s.running == r {
		s.running = nil
	}
	status := response.Completed
	err := r.textErr
	if err == nil || errors.Is(err, context.Canceled) && r.voiceErr != nil {
		err = r.voiceErr
	}
	switch {
	case err == nil:
	case errors.Is(err, pipeline.ErrMaxTokens):
		status = response.Incomplete
	default:
		status = response.Failed
		if !r.over {
			s.failed("a response failed", err, "response", r.object.ID)
		}
	}
	r.body.cancel()
	s.step(coord.OfResponse{Event: response.BodyEnded{ID: r.id, Status: status}})
	s.forget(r)
}

// saidAll: no more audio of r will come.
func (s *Session) saidAll(r *reply) {
	r.said = true
	if s.onAir == r {
		s.speaker.End()
	}
}

// --- its end

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
	r.object.Usage = usage(r)
	s.send(&wire.ResponseDone{Response: r.object})
	s.saidAll(r)
	if r.object.Status == statusCancelled && status != response.SessionEnded && r.spoken && !r.played {
		// Nobody heard a word of it: the model must not remember any (openai-agents-js#523).
		s.truncate(r, playout.Mark{})
	}
	if !r.played { // else they wait for the end of the playback
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
	var stage *pipeline.StageError
	if errors.As(r.textErr, &stage) || errors.As(r.voiceErr, &stage) {
		e.Code = stage.Stage + "_failed"
	}
	return e
}

// usage counts as the model does; audio is counted as one token per 100 ms, as the protocol's own service does for input.
func usage(r *reply) *wire.Usage {
	u := &wire.Usage{InputTokens: r.usage.InputTokens, OutputTokens: r.usage.OutputTokens}
	u.InputTokenDetails.TextTokens = u.InputTokens
	u.OutputTokenDetails.TextTokens = u.OutputTokens
	if r.spoken {
		u.OutputTokenDetails.AudioTokens = int((r.audio + outputRate/10 - 1) / (outputRate / 10))
		u.OutputTokens += u.OutputTokenDetails.AudioTokens
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
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
		case o.it.num == end.Item:
			s.cutItem(o.it, int(end.MS))
			beyond = true
		case beyond:
			s.cutItem(o.it, 0)
		}
	}
}

// cutItem removes from an assistant's message what lies beyond ms of its audio.
func (s *Session) cutItem(it *item, ms int) {
	at := voice.SamplesIn(int64(ms), outputRate)
	heard := it.audio.heardText(at)
	it.Status = statusIncomplete
	it.Content = []wire.Content{{Type: wire.ContentOutputAudio, Transcript: &heard}}
	it.said = min(it.said, at)
	s.send(&wire.ConversationItemTruncated{ItemID: it.ID, AudioEndMS: ms})
}

// forget lets go of a reply, once the event in hand is dealt with, if nothing needs it any more.
func (s *Session) forget(r *reply) { s.again(forgetReply{r.id}) }

// forgetReply asks whether a reply may be forgotten.
type forgetReply struct{ id response.ID }

func (s *Session) forgetNow(id response.ID) {
	r := s.replies[id]
	if r == nil || !r.over || s.bodyRuns(r) {
		return
	}
	waits := len(r.backlog) > 0 || s.onAir == r
	if !waits || r.dropped {
		delete(s.replies, id)
	}
}

// bodyRuns: r's goroutines have not all reported.
func (s *Session) bodyRuns(r *reply) bool {
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
func (r *reply) lastMessage() *output {
	for i := len(r.outputs) - 1; i >= 0; i-- {
		if r.outputs[i].it.Type == wire.ItemMessage {
			return r.outputs[i]
		}
	}
	return nil
}
