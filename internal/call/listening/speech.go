package listening

// Recognitions: the turns of the user, and what the machines' effects do with them.

import (
	"cmp"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// errSlow is the error that a client gets for a turn that the machines gave up, because MaxLate turns wait already.
const errSlow = "the recogniser is too slow: too many turns wait for their text"

// RecognitionView is what Recognitions reads of the session's state.
type RecognitionView struct {
	Wants
	// Semantic reports that an end of utterance ends a turn (semantic_vad).
	Semantic bool
	// Threshold is the probability from which on an Ending is the end of the utterance; only with Semantic.
	Threshold float64
	// FallbackMS is how long a turn waits for another end of its utterance, after the gate has refused one, in ms; only with Semantic.
	FallbackMS uint32
	// Voiced reports that the user speaks, or has only just stopped.
	Voiced bool
	// Silence is how long the user has been silent.
	Silence time.Duration
	Turn    turn.State
}

// Recognitions is the user's speech. See the package comment.
type Recognitions struct {
	stage         stage
	workers       sync.WaitGroup
	post          func(RecognitionEvent) bool
	endOfTurn     func(language string) endofturn.Estimator
	retranscriber pipeline.Transcriber // nil: there is no gate
	turns         map[turn.ID]*userTurn
	recordings    int // how many recordings are being transcribed
	late          []lateTurn
	// left is the item of a turn that ended because the detection was switched off: the client knows it. The next turn becomes that item.
	left string
}

// NewRecognitions returns a Recognitions that ends with p.Context. It needs p.Env, p.Transcriber, p.Guard and p.Post as well.
func NewRecognitions(p Parts) *Recognitions {
	s := &Recognitions{
		post: func(e RecognitionEvent) bool { return p.Post(Report{e}) }, endOfTurn: p.EndOfTurn, retranscriber: p.Retranscriber, turns: map[turn.ID]*userTurn{},
	}
	s.stage = stage{name: pipeline.StageTranscriber, ctx: p.Context, env: p.Env, workers: &s.workers, transcriber: p.Transcriber, guard: p.Guard, memory: p.Memory.Open(ownAudio)}
	return s
}

// Close drops every turn.
func (s *Recognitions) Close() {
	s.late = nil
	for t := range s.turns {
		s.Drop(t)
	}
}

// --- a turn begins and ends

// Open makes turn t, which begins at start, unless there is one already. It returns where the turn begins.
func (s *Recognitions) Open(t turn.ID, start voice.Samples) voice.Samples {
	u := s.turns[t]
	if u == nil {
		u = &userTurn{id: t, start: start, begun: s.left, timing: &room.Timing{ItemID: cmp.Or(s.left, s.stage.env.NewID("item_"))}}
		s.turns[t], s.left = u, ""
	}
	return u.start
}

// Leave drops turn t, which the client knows, because the detection is switched off. It returns where the turn begins: the next turn has its audio and its item.
func (s *Recognitions) Leave(t turn.ID) voice.Samples {
	from := s.turns[t].start
	s.left = s.ItemID(t)
	s.Drop(t)
	return from
}

// DropCandidate drops the rejected candidate t. If it was to go on with a turn that the client knows, the next turn does.
func (s *Recognitions) DropCandidate(t turn.ID) {
	if u := s.turns[t]; u != nil {
		s.left = u.begun
	}
	s.Drop(t)
}

// ItemID returns the name of the item that turn t becomes, "" if there is no turn t.
func (s *Recognitions) ItemID(t turn.ID) string {
	if u := s.turns[t]; u != nil {
		return u.timing.ItemID
	}
	return ""
}

// Text returns the live transcript of turn t so far, "" if there is none.
func (s *Recognitions) Text(t turn.ID) string {
	if u := s.turns[t]; u != nil {
		return u.text
	}
	return ""
}

// Announce returns the events that begin turn t for the client: speech_started, and the caption so far.
func (s *Recognitions) Announce(t turn.ID, v RecognitionView) (out []wire.ServerEvent) {
	u := s.turns[t]
	u.announced = true
	out = append(out, &wire.InputAudioBufferSpeechStarted{
		AudioStartMS: int(u.start.Milliseconds(room.InputRate)), ItemID: u.timing.ItemID,
	})
	if v.Transcripts {
		if c := u.newCaption(); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// Commit ends turn t at now: pcm is its audio, at room.InputRate, the user's last speech was at spoke, and item is what it became. A
// response may answer the turn that is returned.
func (s *Recognitions) Commit(t turn.ID, item machine.Item, pcm []int16, spoke, now time.Time) *room.Timing {
	u := s.turns[t]
	u.closeGate()
	u.item, u.samples = item, len(pcm)
	if s.stage.memory.Take(size(len(pcm))) == nil {
		u.audio = pcm
	}
	u.timing.Committed(spoke, now)
	return u.timing
}

// CommitWordless ends turn t like Commit, but nobody spoke in it: it has no transcript and is forgotten.
func (s *Recognitions) CommitWordless(t turn.ID, spoke, now time.Time) *room.Timing {
	u := s.turns[t]
	u.timing.Wordless = true
	u.timing.Committed(spoke, now)
	s.Drop(t)
	return u.timing
}

// Drop forgets turn t and closes its recognition.
func (s *Recognitions) Drop(t turn.ID) {
	s.CloseStream(t)
	if u := s.turns[t]; u != nil {
		u.closeGate()
		s.stage.memory.Give(size(len(u.audio)))
	}
	delete(s.turns, t)
}

// --- its recognition

// Listen opens a live recognition for turn t. frames is the audio since the turn began.
func (s *Recognitions) Listen(t turn.ID, c pipeline.TranscribeConfig, frames []Frame, v RecognitionView) {
	u := s.turns[t]
	var estimator endofturn.Estimator
	if v.Semantic && s.endOfTurn != nil {
		estimator = s.endOfTurn(c.Language)
	}
	u.recognition = s.stage.recognise(c, t, nil, estimator, s.post)
	u.spoken = u.spoken[:0]
	for _, frame := range frames {
		u.spoken = append(u.spoken, frame.Speech)
		u.recognition.write(frame)
	}
}

// Decode has the whole of turn t, which is committed, recognised.
func (s *Recognitions) Decode(t turn.ID, c pipeline.TranscribeConfig) {
	s.CloseStream(t)
	u := s.turns[t]
	u.recognition = s.stage.recognise(c, t, u.audio, nil, s.post)
}

// Write gives a frame of turn t to its recognition. It returns an event for Handle if the recognition cannot
// keep up; nil otherwise. Without a recognition the frame is dropped.
func (s *Recognitions) Write(t turn.ID, frame Frame) RecognitionEvent {
	u := s.turns[t]
	if u == nil {
		return nil
	}
	u.hear(frame)
	if u.recognition == nil || u.recognition.write(frame) {
		return nil
	}
	u.recognition.close()
	return Failed{t, errOverrun}
}

// CloseInput says that the audio of turn t has ended.
func (s *Recognitions) CloseInput(t turn.ID) {
	if u := s.turns[t]; u != nil && u.recognition != nil {
		u.recognition.closeInput()
	}
}

// CloseStream gives up the recognition of turn t.
func (s *Recognitions) CloseStream(t turn.ID) {
	if u := s.turns[t]; u != nil && u.recognition != nil {
		u.recognition.close()
	}
}

// Handle takes a report and returns what follows from it. err is the failure of the recogniser that the report brings, for the log.
func (s *Recognitions) Handle(e RecognitionEvent, v RecognitionView) (out room.List, err error) {
	switch e := e.(type) {
	case Ready:
		out.Step(coord.OfTranscription{Event: transcription.Ready{Turn: e.Turn}})
	case Refused:
		out.Step(coord.OfTranscription{Event: transcription.Refuse{Turn: e.Turn}})
	case Partial:
		if u := s.turns[e.Turn]; u != nil {
			out = s.partial(u, e, v)
		}
	case Ending:
		// An estimate may come after the user has gone on.
		if u := s.turns[e.Turn]; u != nil && v.Semantic && e.Probability >= v.Threshold && v.Silence >= endofturn.Earliest {
			out = s.ended(u, false, v)
		}
	case Final:
		if u := s.turns[e.Turn]; u != nil {
			u.final, u.words = e.Text, e.Words
			out.Step(coord.OfTranscription{Event: transcription.Done{Turn: e.Turn, Empty: e.Text == ""}})
		}
	case Failed:
		if u := s.turns[e.Turn]; u != nil {
			u.failure, u.recognition = e.Err, nil
			out.Step(coord.OfTranscription{Event: transcription.Failed{Turn: e.Turn}})
			err = e.Err
		}
	case Retranscribed:
		if u := s.turns[e.Turn]; u != nil {
			out, err = s.retranscribed(u, e, v)
		}
	case Recorded:
		if e.Late {
			s.lateDone()
		} else {
			s.recordings--
			s.stage.memory.Give(e.Held)
		}
		err = e.Err
	}
	return out, err
}

// partial takes a partial result: a caption, and perhaps the end of the utterance. Words after a reported end retract it.
func (s *Recognitions) partial(u *userTurn, e Partial, v RecognitionView) (out room.List) {
	u.text = e.Text
	if u.goesOn() {
		out = u.resume(v)
	}
	if u.announced && v.Transcripts {
		if c := u.newCaption(); c != nil {
			out.Send(c)
		}
	}
	if e.EOU && v.Semantic {
		u.eou = true
		out = append(out, s.ended(u, v.Voiced, v)...)
	}
	return out
}

// ended returns what follows from the end of turn u's utterance.
func (s *Recognitions) ended(u *userTurn, voiced bool, v RecognitionView) (out room.List) {
	u.over, u.overAt = true, u.text
	out.Step(coord.OfTranscription{Event: transcription.EOU{Turn: u.id}})
	if turn.Open(v.Turn) == u.id {
		if _, candidate := v.Turn.(turn.Candidate); candidate {
			return out // once the candidate is confirmed, Opened tells the turn machine, or the next estimate does
		}
	}
	if !u.gate.refused { // the gate would get the same audio again
		out.Later(coord.OfTurn{Event: turn.EndOfUtterance{Turn: u.id, Voiced: voiced, Gate: s.retranscriber != nil}})
	}
	return out
}

// resume retracts the end of turn u's utterance, because words came after it. While the user speaks, the turn machine has noted that end,
// and would commit the turn at the next pause.
func (u *userTurn) resume(v RecognitionView) (out room.List) {
	u.eou, u.over, u.gate.refused = false, false, false
	out.Step(coord.OfTranscription{Event: transcription.Resumed{Turn: u.id}})
	if at, speaking := v.Turn.(turn.Speaking); speaking && at.Turn == u.id && v.Semantic && v.Voiced {
		out.Later(coord.OfTurn{Event: turn.VoiceResumed{Turn: u.id}})
	}
	return out
}

// Opened returns what follows when turn t is certain: the end of its utterance, if the recogniser reported that while the turn was a candidate.
func (s *Recognitions) Opened(t turn.ID, v RecognitionView) (out room.List) {
	if u := s.turns[t]; u != nil && u.eou {
		out.Later(coord.OfTurn{Event: turn.EndOfUtterance{Turn: t, Voiced: v.Voiced, Gate: s.retranscriber != nil}})
	}
	return out
}

// --- its transcript

// Delivery is a turn whose transcript is there, or will never be.
type Delivery struct {
	Item       machine.Item // the item that the turn became
	Turn       *room.Timing
	Transcript Transcript
	PCM        []int16 // the turn's audio, at room.InputRate
	// Late reports that the recogniser has not failed: the machines gave the turn up, because others came. See TranscribeLater.
	Late bool
}

// Deliver forgets turn t and returns its transcript, which came at now; ok is false if there is no turn t.
func (s *Recognitions) Deliver(t turn.ID, now time.Time) (d Delivery, ok bool) {
	u := s.turns[t]
	if u == nil {
		return Delivery{}, false
	}
	u.timing.Transcribed(now)
	d = u.delivery()
	d.Transcript.Text, d.Transcript.Words = u.final, u.words
	s.Drop(t)
	return d, true
}

// DeliverFailure forgets turn t and returns why it has no transcript; ok is false if there is no turn t.
func (s *Recognitions) DeliverFailure(t turn.ID) (d Delivery, ok bool) {
	u := s.turns[t]
	if u == nil {
		return Delivery{}, false
	}
	d = u.delivery()
	d.Transcript.Failure = errSlow
	d.Late = u.failure == nil
	if !d.Late {
		d.Transcript.Failure = room.Public(u.failure.Error())
	}
	s.Drop(t)
	return d, true
}

func (u *userTurn) delivery() Delivery {
	return Delivery{Item: u.item, Turn: u.timing, PCM: u.audio, Transcript: Transcript{Captions: u.caption, Start: u.start, Samples: u.samples}}
}
