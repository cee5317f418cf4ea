package listening

// The Input: audio goes in, and frames with their turn events come out one by one.

import (
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	// AudioTimeout is how long an open turn lasts without any audio: its client has stopped sending.
	AudioTimeout = 5 * time.Second

	frameMS      = 10
	frameSamples = room.InputRate / 1000 * frameMS // samples of the input in one frame
	maxMissing   = 14 * room.InputRate / 10        // missing samples in a row that are not silence: 1.4 s
	keepFrames   = 120                             // frames of which a recogniser that opens late learns whether the user spoke: 1.2 s
	makesRoom    = 30                              // the part of a full buffer, one in makesRoom, that its oldest audio leaves at once: to move the rest takes time
)

// InputView is the part of the session's state that an Input reads for a frame.
type InputView struct {
	Turn         turn.State
	AgentAudible bool // the agent's audio is played out
	AtEnd        bool // as in Facts; for a candidate that opens
	ClientDucks  bool // the client lowers and silences the agent itself
	// NoLiveTranscription reports that the recogniser has no live transcription, and so no end of utterance.
	NoLiveTranscription bool
	// FarEnd has the audio that was sent to the client; nil if it is not known, and then there is no echo judgement.
	FarEnd link.FarEndReader
	// Language is the language of the user.
	Language endofturn.Choice
	Path     link.RoundTripper // measures the round trip to the client; nil if nothing does
}

// Result is the result of one call of Next. Fields that do not apply are nil.
type Result struct {
	// Frame is 10 ms of the user's audio for the recogniser. Its PCM is nil if there is no frame. While no turn is open it is valid until the next call of Next.
	Frame Frame
	// Event is the frame's event for the turn machine: Onset, Sustained, Misfire, Silence or VoiceResumed.
	Event turn.Event
	// Failure is for the client.
	Failure *room.Failure
	// Silences says that the response must be silent from this frame on: the sound of the candidate is like the user's voice.
	Silences bool
}

// Input owns the user's audio and decides what is speech in it. See the package comment.
type Input struct {
	settings *wire.TurnDetection // nil while the client detects the turns
	on       bool                // detection has been started
	padding  int                 // ms of audio before an onset that belong to a turn

	decoder room.Decoder
	cleaner cleaner
	buffer  buffer
	limit   int     // the limit of buffer, in samples
	pending []int16 // appended, and not looked at yet
	missing int     // samples that have not arrived since the last that did
	// committing: Next has returned the event that commits a turn which fills the buffer. reportedFull: Next has returned the failure that the buffer is full.
	committing, reportedFull bool

	framing framing
	frames  int64  // how many frames came since the session began
	recent  []bool // in which of the last keepFrames frames the user spoke

	candidateStart voice.Samples // where the newest candidate began
	kept           keptAudio

	listener   listener
	judgements Judgements // nil: none
}

// framing cuts the audio into frames at the detector's rate.
type framing struct {
	down      *voice.Resampler // room.InputRate to the detector's rate
	again     *voice.Resampler // the same, for audio that is resampled a second time
	framer    voice.Framer
	resampled []float32
	rest      []float32 // of resampled, not yet in a frame
	inPiece   bool      // frames of a piece are being handed out
}

// listener decides which event a frame causes.
type listener struct {
	detector    *voice.Detector
	talker      voice.Talker
	likeness    voice.Likeness
	endpointing endpointing
	echo        echo
	playback    playback
	candidate   turn.ID // the candidate that judge decides on; 0 for none
	judge       judge
	lastAudio   time.Time // when the last audio came
	lastSpeech  time.Time // when the last speech came
}

// tables returns the tables that all detectors of the process share.
var tables = sync.OnceValue(voice.NewTables)

// NewInput returns an Input that detects no turns until Configure and StartDetection. Its buffer holds limit samples, as far as memory has room.
func NewInput(limit int, memory *account.Account) (*Input, error) {
	down, err := voice.NewResampler(room.InputRate, voice.FrameRate)
	if err != nil {
		return nil, err
	}
	d := voice.NewDetector(voice.DetectorConfig{Tables: tables()})
	return &Input{
		limit: limit, buffer: buffer{memory: memory}, framing: framing{down: down, again: down.Another()}, listener: listener{detector: d, echo: newEcho(d, down.Another())},
	}, nil
}

// Append takes mono audio at room.InputRate, which came at now. The caller calls Next until it reports false before it appends again or changes pcm.
func (in *Input) Append(pcm []int16, now time.Time) {
	in.pending, in.missing = in.cleaner.clean(pcm), 0
	in.listener.lastAudio = now
}

// Missing stands for samples of audio that have not arrived: the user's speech in them is unknown. Up to maxMissing they count as nothing,
// so that a stall of the network does not end a turn; what is missing beyond that is silence. The caller goes on as after Append.
func (in *Input) Missing(samples int) {
	in.missing += samples
	if beyond := min(samples, in.missing-maxMissing); beyond > 0 {
		in.pending = in.cleaner.clean(make([]int16, beyond))
	}
}

// AppendEncoded is Append for the audio of an event in a format of the protocol. A failure means that nothing was appended.
func (in *Input) AppendEncoded(name string, audio []byte, now time.Time) *room.Failure {
	if name == wire.FormatPCM && len(audio)%2 != 0 {
		return room.Refuse(wire.CodeInvalidValue, "audio", "audio/pcm has 2 bytes a sample: the length must be even")
	}
	pcm, err := in.decoder.Decode(name, audio)
	if err != nil {
		return &room.Failure{Type: room.TypeServer, Code: "audio_format", Param: "audio", Message: err.Error()}
	}
	in.Append(pcm, now)
	return nil
}

// EndEncoded appends what the decoder and the noise reduction have kept back of the audio so far. The caller goes on as after Append.
func (in *Input) EndEncoded(now time.Time) {
	if rest := in.decoder.Rest(); len(rest) > 0 {
		in.Append(rest, now)
	}
	in.pending = append(slices.Clone(in.pending), in.cleaner.flush()...)
}

// Next looks at the next frame of the appended audio. ok is false when there is none; less audio than a frame waits for more. The caller acts on the result before it calls
// Next again, with the view after that.
//
// The audio goes through in pieces of one frame, so that a turn that ends inside it leaves the audio after its end in the buffer.
func (in *Input) Next(v InputView) (r Result, ok bool) {
	for {
		if f := &in.framing; f.inPiece {
			var frame []float32
			if frame, f.rest = f.framer.Push(f.rest); frame != nil {
				if turn.Open(v.Turn) != 0 { // a recogniser keeps the frame
					frame = slices.Clone(frame)
				}
				e, speaks, silences := in.frame(frame, v)
				return Result{Frame: Frame{PCM: frame, Speech: speaks}, Event: e, Silences: silences}, true
			}
			f.inPiece = false
			if in.Detecting() && turn.Open(v.Turn) == 0 {
				in.dropUnused()
			}
		}
		n := min(len(in.pending), frameSamples)
		if n == 0 {
			in.pending = nil
			return Result{}, false
		}
		if !in.buffer.take(n, in.limit) {
			return in.makeRoom(v)
		}
		in.committing = false
		in.beginPiece(in.pending[:n])
		in.pending = in.pending[n:]
	}
}

func (in *Input) beginPiece(pcm []int16) {
	in.buffer.Append(pcm)
	f := &in.framing
	f.resampled = f.down.AppendFloats(f.resampled[:0], pcm)
	f.rest, f.inPiece = f.resampled, true
}

// makeRoom deals with a full buffer. A turn that is longer than the buffer is committed, so nothing is lost, and the audio goes on
// after it. For a client that commits by itself the oldest audio makes room, and the client gets a failure, once.
func (in *Input) makeRoom(v InputView) (Result, bool) {
	if t := turn.Open(v.Turn); t != 0 && !in.committing {
		in.committing = true
		return Result{Event: turn.Silence{Turn: t}}, true
	}
	in.buffer.DropBefore(in.buffer.Start() + voice.Samples(in.limit/makesRoom))
	if in.committing || in.reportedFull {
		return Result{}, true
	}
	in.reportedFull = true
	return Result{Failure: &room.Failure{
		Code: "input_audio_buffer_full", Message: "the input buffer is full (5 minutes, or as much as the server has memory for now), and its oldest audio is dropped: commit or clear it",
	}}, true
}

// frame counts a frame. It returns the event for the turn machine, nil for none, whether the user speaks, and whether the response must be silent from
// this frame on.
func (in *Input) frame(frame []float32, v InputView) (e turn.Event, speaks, silences bool) {
	in.frames++
	if in.Detecting() {
		l := &in.listener
		is := l.judgement(frame, v, in.settings, in.cleaner.delay())
		if in.judgements != nil {
			is = in.judgements.Frame(is)
		}
		speaks = is.is(Speech)
		l.endpointing.add(speaks)
		if speaks {
			l.lastSpeech = l.lastAudio.Add(-in.cleaner.delay())
		}
		if c, open := v.Turn.(turn.Candidate); open && c.Turn == l.candidate {
			silences = l.judge.silences(is.is(Like), is.is(Softer), v.ClientDucks)
		}
		e = in.event(speaks, v)
	}
	if len(in.recent) == keepFrames {
		in.recent = append(in.recent[:0], in.recent[1:]...)
	}
	in.recent = append(in.recent, speaks)
	return e, speaks, silences
}

// event returns the event of the present frame for the turn machine; nil for none.
func (in *Input) event(speaks bool, v InputView) turn.Event {
	l := &in.listener
	switch st := v.Turn.(type) {
	case turn.Idle:
		if l.endpointing.onset() {
			return turn.Onset{}
		}
	case turn.Candidate:
		if l.candidate == st.Turn {
			return l.verdict(l.judge.frame(speaks))
		}
	case turn.Speaking:
		after, fallback := silenceThatEnds(in.settings, v.NoLiveTranscription)
		return l.endpointing.during(st.Turn, speaks, after, fallback)
	case turn.Confirming:
		return l.endpointing.confirming(st.Turn, speaks)
	}
	return nil
}

// judgement says what frame is. delay is how late the frame is.
func (l *listener) judgement(frame []float32, v InputView, td *wire.TurnDetection, delay time.Duration) Judgement {
	sound, speaks := l.isSpeech(frame, v, td, delay)
	_, open := v.Turn.(turn.Candidate)
	l.likeness.Frame(l.detector, &l.talker, speaks || sound && open)
	return bit(Speech, speaks) | bit(Like, l.likeness.Like()) | bit(Softer, l.likeness.Softer())
}

// isSpeech reports whether frame sounds like speech, and whether it is speech of the user. People in the background are none, and neither is the agent's echo, unless it is certain
// that the user speaks: then the echo is not judged. delay is how late the frame is.
func (l *listener) isSpeech(frame []float32, v InputView, td *wire.TurnDetection, delay time.Duration) (sound, speech bool) {
	l.detector.SetThreshold(l.playback.threshold(td, v.AgentAudible, l.lastAudio))
	sound = l.detector.Frame(frame).Speech
	speech = sound
	if l.echo.explains(l.detector, v, delay) {
		switch v.Turn.(type) {
		case turn.Idle, turn.Candidate:
			speech = false
		case turn.Speaking, turn.Confirming:
		}
	}
	return sound, l.talker.Frame(l.detector, speech, v.AgentAudible)
}

// Detecting reports whether the server detects the turns.
func (in *Input) Detecting() bool { return in.settings != nil && in.on }

// onset returns the position where a turn begins whose onset is the present frame: the start of its speech less the pre-roll, but not before the session's begin.
func (in *Input) onset() voice.Samples {
	back := int64(in.listener.endpointing.lookBack()) + int64(in.padding/frameMS)
	return max(0, voice.Samples((in.frames-back)*frameSamples))
}
