package session

import (
	"context"
	"errors"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/server/session/output"
	"github.com/antiphon-rt/antiphon/server/session/ratelimit"
	"github.com/antiphon-rt/antiphon/wire"
)

var errTooManyClauses = errors.New("the response is longer than the voice takes")

// created announces the response to a request of the client or to a turn.
func (s *Session) created(f response.EmitCreated) {
	name := s.conversation.ID()
	s.announce(s.newReply(f.ID, s.causes.known[f.Request], &name))
}

// announce begins r's life for the client.
func (s *Session) announce(r *reply) {
	s.replies[r.id] = r
	s.send(&wire.ResponseCreated{Response: r.object})
}

// newReply is a response as its request and the session's settings want it; conversation is nil for one beside it.
func (s *Session) newReply(id response.ID, why cause, conversation *string) *reply {
	r := &reply{id: id, request: why.request, turn: why.turn, splitter: pipeline.NewClauses(), saying: map[uint32]spoken{}}
	set := s.settings.Current()
	r.object = wire.Response{
		ID: newID("resp_"), Status: statusInProgress, ConversationID: conversation,
		OutputModalities: set.OutputModalities, MaxOutputTokens: set.MaxOutputTokens,
		Audio: &wire.ResponseAudio{Format: set.Audio.Output.Format, Voice: set.Audio.Output.Voice},
	}
	if q := r.request; q != nil {
		ownSettings(&r.object, q)
	}
	aside := conversation == nil && s.player.ServerPaced() // nobody could tell its voice from the conversation's
	r.spoken = slices.Contains(r.object.OutputModalities, modalityAudio) && s.canSpeak() && !aside
	var encoder *format.Encoder
	if !r.spoken {
		r.object.OutputModalities, r.object.Audio = []string{"text"}, nil
	} else if !s.player.ServerPaced() {
		var err error
		if encoder, err = format.NewEncoder(r.object.Audio.Format.Type); err != nil {
			s.log.Error("a format of audio cannot be made", "err", err)
			encoder = &format.Encoder{}
		}
	}
	r.track = output.NewTrack(id, r.object.ID, encoder)
	return r
}

// modalityAudio is the output modality of a spoken answer.
const modalityAudio = "audio"

// ownSettings puts what a request wants in place of the session's settings.
func ownSettings(r *wire.Response, q *wire.ResponseParams) {
	if q.OutputModalities != nil {
		r.OutputModalities = q.OutputModalities
	}
	if q.MaxOutputTokens != nil {
		r.MaxOutputTokens = *q.MaxOutputTokens
	}
	if q.Audio != nil && q.Audio.Voice != "" {
		r.Audio.Voice = q.Audio.Voice
	}
	if q.Audio != nil && q.Audio.Format.Type != "" {
		r.Audio.Format = q.Audio.Format
	}
	r.Metadata = q.Metadata
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

// startWaiting starts the bodies that wait, once every transcript that they must read is there, and it is known what was
// heard of a reply that was interrupted.
func (s *Session) startWaiting() {
	if _, cut := s.state.Playout.(playout.Cut); cut || s.conversation.Pending() {
		return
	}
	if r := s.starting; r != nil {
		s.starting = nil
		if s.start(r) {
			s.running = r
		}
	}
	s.startBeside()
}

// start begins r's body, or has r fail when it may not.
func (s *Session) start(r *reply) bool {
	request, err := s.modelRequest(r)
	if err == nil {
		err = ratelimit.Admit(s.cfg.Limits)
	}
	if err != nil {
		r.textErr = err
		s.bodyless(r, response.Failed)
		return false
	}
	set := s.settings.Current()
	speech := pipeline.Utterance{Voice: set.Audio.Output.Voice, Speed: set.Audio.Output.Speed}
	if r.object.Audio != nil {
		speech.Voice = r.object.Audio.Voice
	}
	r.body = startBody(s.ctx, &s.workers, s.cfg.Pipeline, r.id, request, speech, !s.player.ServerPaced(), s.queue.post)
	r.track.Fund(r.body.credit)
	return true
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
		r.usage, r.counted, r.textErr = plausible(e.usage), true, e.err
		if r.spoken && !r.over {
			for _, c := range r.splitter.Flush() {
				s.enqueue(r, c)
			}
		}
		s.tellVoice(r, synthesis.Finish{})
	case bodyVoiceEnded:
		r := s.replies[e.id]
		if r.voiceErr == nil {
			r.voiceErr = e.err
		}
		if e.err != nil {
			r.body.cancel() // nobody listens to the rest of the text
		}
		s.tellVoice(r, synthesis.WorkerExited{})
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
	s.bodyEnded(r, status)
	s.forget(r)
}

// saidAll: no more audio of r will come.
func (s *Session) saidAll(r *reply) {
	s.player.Complete(r.track)
}
