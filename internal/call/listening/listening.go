package listening

// A Listening: its parts, and the audio that goes through it.

import (
	"context"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Parts are the other parts of the session that a Listening uses. They belong to the session's goroutine, as the Listening does.
type Parts struct {
	Env         env.Env
	Log         *slog.Logger
	Transcriber pipeline.Transcriber
	Guard       *watchdog.Guard // bounds the calls into the Transcriber
	// EndOfTurn returns an estimator of the ends of turns in a language; nil for none.
	EndOfTurn func(language string) endofturn.Estimator
	// Languages are languages of the program's own, for the judge of barge-ins; nil for none.
	Languages endofturn.Own
	// Retranscriber recognises each utterance again as a whole at its end; nil: nothing does.
	Retranscriber pipeline.Transcriber
	// Noise reduces the noise of the user's audio; nil if nothing does. The Settings ask for it only where it works.
	Noise pipeline.NoiseReducer
	GateParts
	// Sounds finds the sounds of a turn; nil if nothing does.
	Sounds       sounds.Tagger
	Settings     *conversation.Settings
	Conversation *conversation.Conversation
	// Judgements, when not nil, learn what each frame is, and have the last word.
	Judgements Judgements
	// TakeBack lets the session take the end of a turn back, whatever its client wants.
	TakeBack bool
	// Buffer is how many samples the input buffer holds.
	Buffer int
	// Memory is the budget of all sessions for audio that waits.
	Memory account.Purse
	// Context ends with the session.
	Context context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	// Post takes the reports of timers and recognitions, from any goroutine. It reports false when the session has ended.
	Post func(Event) bool
}

// Judgements record what the detector says, or play it again.
type Judgements interface {
	// Frame takes what the present frame is, and returns what it counts as.
	Frame(is Judgement) Judgement
}

// Judgement is what a frame is: bits. It is less than 8.
type Judgement uint8

// The bits of a Judgement. The last two are of the sound that goes on with the frame (voice.Likeness).
const (
	Speech Judgement = 1 << iota // it is speech of the user
	Like                         // the sound is like the user's voice
	Softer                       // the sound is softer than the user
)

// is reports whether a bit is set.
func (j Judgement) is(bit Judgement) bool { return j&bit != 0 }

// bit returns b if set, and nothing otherwise.
func bit(b Judgement, set bool) Judgement {
	if set {
		return b
	}
	return 0
}

// Facts are what a Listening must know of the other rooms when it takes an event of its own, or performs an effect.
type Facts struct {
	// NearAnswer: the agent has almost finished, or has asked a question: one word is then an answer.
	NearAnswer bool
	// AtEnd: only the last sounds of the agent's response are unplayed.
	AtEnd bool
	// Unbegun is the response that the client has asked for and whose body has not begun; 0 for none.
	Unbegun response.ID
	// Strict: the voice of each turn must be asked about now, also in a session that has earned trust.
	Strict bool
}

// Listening is the user's half of a session. See the package comment.
type Listening struct {
	Parts
	input  *Input
	speech *Recognitions
	timers *env.Timers
	idle   uint64 // names the timer of idle_timeout_ms
	// appended is when the last input_audio_buffer.append came.
	appended time.Time
	can      link.Capabilities
	reducing string // the kind of noise reduction that is on; "" for none
	workers  *env.Group
	gate     voiceGate
	ends     ends
	tagging  int // how many turns the Tagger works on
}

// NewListening returns a Listening that detects no turns yet.
func NewListening(p Parts) (*Listening, error) {
	in, err := NewInput(p.Buffer, p.Memory.Open(ownAudio))
	if err != nil {
		return nil, err
	}
	in.judgements = p.Judgements
	return &Listening{
		Parts: p, input: in, speech: NewRecognitions(p), timers: env.NewTimers(p.Env), workers: env.NewGroup(p.Env), gate: voiceGate{turns: map[turn.ID]*gatedTurn{}},
		ends: ends{state: turnend.Final{}, said: map[turn.ID]utterance{}},
	}, nil
}

// Connect gives the Listening the capabilities of the session's link.
func (l *Listening) Connect(can link.Capabilities) { l.can = can }

// Close stops the timers and the noise reduction, and drops every turn.
func (l *Listening) Close() {
	l.input.cleaner.close()
	l.timers.StopAll()
	l.speech.Close()
}

// Wait joins all goroutines of the Listening. Parts.Context must have ended before, or the wait lasts as long as they do.
func (l *Listening) Wait() {
	l.speech.workers.Wait()
	l.workers.Wait()
	l.input.buffer.memory.Close()
	l.speech.stage.memory.Close()
}

// Uncommitted reports whether the buffer has audio that the client has to commit, because it detects the turns.
func (l *Listening) Uncommitted() bool {
	return l.Settings.TurnDetection() == nil && l.input.buffer.Len() > 0
}

// Turns returns how many turns are open or wait for their transcripts. There are at most three and MaxLate.
func (l *Listening) Turns() int { return len(l.speech.turns) + len(l.speech.late) }

// Transcribing returns how many recordings are being transcribed.
func (l *Listening) Transcribing() int { return l.speech.recordings }

// Configure takes over the settings of turn detection and noise reduction.
func (l *Listening) Configure() {
	l.input.Configure(l.Settings.TurnDetection())
	if !l.takesBack() {
		l.stepEnd(turnend.Fixed{})
	}
	l.reduceNoise()
}

// PlaybackEnded notes that the agent has fallen silent.
func (l *Listening) PlaybackEnded(s *coord.State) {
	l.input.listener.playback.ended = l.Env.Now() // the client's echo cancellation adapts to that
	l.ArmIdle(s)
}

// OpenPredicted begins to judge candidate t, which the client's detector has opened. answers says that only the end of the agent's response
// is unplayed: the user answers it rather than listens.
func (l *Listening) OpenPredicted(t turn.ID, answers bool, facts Facts, s *coord.State) {
	view := l.inputView(s)
	view.AtEnd = facts.AtEnd
	l.input.OpenPredicted(t, answers, facts.NearAnswer, view)
}

// Likely returns the open turn if its end is likely, and what the user has said in it so far; 0 for none. The user has paused for 200 ms, and a
// response will answer the turn. If the turn goes on with the one before, said has the words of both, in place of the item from and of those after it.
func (l *Listening) Likely(s *coord.State) (t turn.ID, said string, from machine.Item) {
	if td := l.Settings.TurnDetection(); td == nil || !td.CreateResponse || l.input.Voiced() || !l.trusts() {
		return 0, "", 0
	}
	switch s.Turn.(type) {
	case turn.Speaking, turn.Confirming:
		t = turn.Open(s.Turn)
	case turn.Idle, turn.Candidate:
	}
	if said = l.speech.Text(t); said == "" {
		return 0, "", 0
	}
	if first, goesOn := l.before(t, 0, s); goesOn {
		return t, joined(first.text, said), first.item
	}
	return t, said, 0
}

// --- audio

// appendsFor is how long after an input_audio_buffer.append the audio of the client's track is dropped: a client has one source of audio
// at a time. The pieces of a client that appends in real time come more often than that.
const appendsFor = 500 * time.Millisecond

// appending reports whether events bring the client's audio at the moment, so that its track does not count.
func (l *Listening) appending() bool {
	return !l.appended.IsZero() && l.Env.Now().Sub(l.appended) < appendsFor
}

// Audio takes audio of the client's track: mono, format.InputRate. It is dropped while events bring the audio. The caller may change pcm once
// it has performed the actions.
func (l *Listening) Audio(pcm []int16, s *coord.State) room.List {
	if l.appending() {
		return nil
	}
	l.input.Append(pcm, l.Env.Now())
	return l.listen(s)
}

// Missing takes samples of the client's track that have not arrived.
func (l *Listening) Missing(samples int, s *coord.State) room.List {
	if l.appending() || l.cutOff(s) {
		return nil
	}
	l.input.Missing(samples)
	return l.listen(s)
}

// cutOff reports that the connection was interrupted while the user spoke. The turn then waits until the connection is back or the session ends:
// nobody knows what the user has said meanwhile.
func (l *Listening) cutOff(s *coord.State) bool {
	_, away := s.Conn.(conn.Interrupted)
	return away && turn.Open(s.Turn) != 0 && l.input.Voiced()
}

// Append takes the audio of an input_audio_buffer.append.
func (l *Listening) Append(audio []byte, s *coord.State) (out room.List) {
	if f := l.input.AppendEncoded(l.Settings.InputFormat(), audio, l.Env.Now()); f != nil {
		out.Fail(f)
		return out
	}
	l.appended = l.Env.Now()
	return l.listen(s)
}

// Commit takes an input_audio_buffer.commit.
func (l *Listening) Commit(s *coord.State) room.List {
	l.input.EndEncoded(l.Env.Now())
	out := l.listen(s)
	out.Then(func(*coord.State) (out room.List) {
		if f := l.input.CheckCommit(); f != nil {
			out.Fail(f)
			return out
		}
		return step(turn.Commit{})
	})
	return out
}

// Clear takes an input_audio_buffer.clear.
func (l *Listening) Clear() room.List {
	out := step(turn.Clear{})
	out.Then(func(*coord.State) (out room.List) {
		l.input.Clear()
		l.speech.left = ""
		out.Send(&wire.InputAudioBufferCleared{})
		return out
	})
	return out
}

// listen looks at each frame of the audio that was appended. It stops at the first frame that means something to the turn machine, and goes
// on once that is performed.
func (l *Listening) listen(s *coord.State) (out room.List) {
	if err := l.input.cleaner.takeFailure(); err != nil {
		l.withoutNoiseReduction(err)
	}
	for r, ok := l.input.Next(l.inputView(s)); ok; r, ok = l.input.Next(l.inputView(s)) {
		if r.Frame.PCM != nil {
			out = append(out, l.recognise(r.Frame, s)...)
		}
		if r.Failure != nil {
			out.Fail(r.Failure)
		}
		if r.Silences {
			out = append(out, room.Silence{})
		}
		if r.Event != nil {
			out = append(out, step(r.Event)...)
			out.Then(l.listen)
			return out
		}
	}
	return out
}

// recognise gives a frame to the recogniser of the open turn. If the recogniser cannot keep up, the machines learn that after the event in hand.
func (l *Listening) recognise(frame Frame, s *coord.State) (out room.List) {
	failed := l.speech.Write(turn.Open(s.Turn), frame)
	if failed == nil {
		return nil
	}
	for _, a := range l.report(failed, s) {
		if follows, is := a.(room.Step); is {
			out.Later(follows.Event)
		}
	}
	return out
}

// inputView returns the part of the session's state that the Input reads.
func (l *Listening) inputView(s *coord.State) InputView {
	_, degraded := s.Live.(transcription.Unavailable)
	return InputView{
		Turn: s.Turn, AgentAudible: audible(s), ClientDucks: s.Config.Reports, NoLiveTranscription: degraded, FarEnd: l.can.FarEndReader, Path: l.can.RoundTripper,
		Language: endofturn.Choice{Name: l.Settings.TranscribeConfig(false).Language, Own: l.Languages},
	}
}

// speechView returns the part of the session's state that Recognitions reads.
func (l *Listening) speechView(s *coord.State) RecognitionView {
	td := l.Settings.TurnDetection()
	v := RecognitionView{
		Wants: l.wants(), Semantic: td != nil && td.Type == wire.SemanticVAD, Voiced: l.input.Voiced(), Silence: time.Duration(l.input.listener.endpointing.silentMS) * time.Millisecond, Turn: s.Turn,
	}
	if v.Semantic {
		v.Threshold, v.FallbackMS = endofturn.Threshold(td.Eagerness), uint32(eagernessMS(td.Eagerness))
	}
	return v
}

// wants returns which events about transcripts the client wants.
func (l *Listening) wants() Wants {
	return Wants{Transcripts: l.Settings.Transcription() != nil, Logprobs: l.Settings.Logprobs(), Times: l.Settings.Client.Words}
}

// audible reports whether the agent is heard at the moment.
func audible(s *coord.State) bool {
	_, playing := s.Playout.(playout.Playing)
	return playing
}

// step returns the actions for one event of the turn machine, none for nil.
func step(e turn.Event) (out room.List) {
	if e != nil {
		out.Step(coord.OfTurn{Event: e})
	}
	return out
}
