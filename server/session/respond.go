package session

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/server/pipeline"
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
	s.starting = nil
	if !s.admitted(r) {
		return
	}
	s.running = r
	set := &s.settings
	speech := pipeline.Utterance{Voice: set.Audio.Output.Voice, Speed: set.Audio.Output.Speed}
	if r.object.Audio != nil {
		speech.Voice = r.object.Audio.Voice
	}
	r.body = startBody(s.ctx, &s.workers, s.cfg.Pipeline, r.id, s.modelRequest(r), speech, !s.media, s.queue.post)
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
