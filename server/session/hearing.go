package session

import (
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// How the detector's frames become events.
const (
	onsetFrames  = 3                                 // frames of speech that are an onset: 30 ms
	carryFrames  = 25                                // frames more, when a turn was cut off in its voice: its last sound is no turn
	pauseMS      = 200                               // silence that lets an end of utterance count (semantic_vad)
	keepFrames   = 120                               // 10 ms frames kept for a recogniser that opens late: 1.2 s
	raisedBy     = 0.2                               // threshold while echo cancellation adapts
	adaptFirst   = 3 * time.Second                   // ... in the first playback
	adaptAfter   = 250 * time.Millisecond            // ... after every playback
	starveAfter  = 5 * time.Second                   // without any audio a turn is over: its client has stopped sending
	frameSamples = format.InputRate / 1000 * frameMS // of the input, in one frame
)

// hearing is the path from the client's audio to the detector's word.
type hearing struct {
	down     *voice.Resampler // format.InputRate to the detector's rate
	framer   voice.Framer
	detector *voice.Detector
	scratch  []float32
	resample []float32

	frames  int64       // heard since the session began
	recent  [][]float32 // the last keepFrames
	run     int         // frames of speech in a row; below 0 while it may be the last sound of the turn before
	carried bool        // the voice goes on from the turn before
	silent  int         // ms of silence since the last speech
	paused  bool        // Silence was reported and speech has not resumed
	stopped time.Time   // when the last speech was heard
	audio   time.Time   // when the last audio came
	first   time.Time   // when the first playback began
	quiet   time.Time   // when the last playback ended
	padding int         // ms of audio before the onset that belong to a turn
	echo    echo
}

func newHearing() (*hearing, error) {
	down, err := voice.NewResampler(format.InputRate, voice.FrameRate)
	if err != nil {
		return nil, err
	}
	e, err := newEcho()
	if err != nil {
		return nil, err
	}
	return &hearing{down: down, detector: voice.NewDetector(voice.DetectorConfig{}), echo: e}, nil
}

// onset is where a turn begins that is noticed now: the speech that was noticed and the padding before it, but
// nothing before earliest.
func (h *hearing) onset(earliest voice.Samples) voice.Samples {
	back := int64(onsetFrames) + int64(h.padding/frameMS)
	if h.carried {
		back += carryFrames
	}
	return max(earliest, voice.Samples((h.frames-back)*frameSamples))
}

// cut notes that a turn has ended, maybe in mid-sentence: a voice that goes on begins the next one.
func (h *hearing) cut() {
	if h.run > 0 {
		h.run, h.carried = -carryFrames, true
	}
}

// heardMS is how much audio the detector has heard.
func (h *hearing) heardMS() int { return int(h.frames) * frameMS }

// hear takes audio from the client: mono, format.InputRate. It goes in pieces of one frame, so that a turn that ends inside pcm
// does not take what was said after it.
func (s *Session) hear(pcm []int16) {
	s.hearing.audio = s.now()
	for len(pcm) > 0 {
		n := min(len(pcm), frameSamples)
		if s.input.Len()+n > maxInput && !s.makeRoom() {
			return
		}
		s.hearPiece(pcm[:n])
		pcm = pcm[n:]
	}
}

func (s *Session) hearPiece(pcm []int16) {
	s.input.Append(pcm)
	h := s.hearing
	h.scratch = voice.PCM16ToFloat(h.scratch[:0], pcm)
	h.resample = h.down.Append(h.resample[:0], h.scratch)
	rest := h.resample
	for {
		var frame []float32
		if frame, rest = h.framer.Push(rest); frame == nil {
			break
		}
		s.hearFrame(append([]float32(nil), frame...))
	}
	if s.detecting() && turn.Open(s.state.Turn) == 0 {
		s.input.DropBefore(h.onset(0))
	}
}

// hearFrame takes 10 ms at the detector's rate; the frame is the callee's.
func (s *Session) hearFrame(frame []float32) {
	h := s.hearing
	h.frames++
	if len(h.recent) == keepFrames {
		h.recent = append(h.recent[:0], h.recent[1:]...)
	}
	h.recent = append(h.recent, frame)
	if u := s.turns[turn.Open(s.state.Turn)]; u != nil && u.ear != nil && !u.ear.write(frame) {
		u.ear.close()
		s.again(earFailed{u.id, errEarOverrun})
	}
	if !s.detecting() {
		return
	}
	h.detector.SetThreshold(s.threshold())
	speech := h.detector.Frame(frame).Speech
	if own := s.explained(frame); own && !s.speaking() {
		speech = false
	}
	if speech {
		h.run++
		h.silent, h.stopped = 0, s.now()
	} else {
		h.run, h.carried = 0, false
		h.silent += frameMS
	}
	switch st := s.state.Turn.(type) {
	case turn.Idle:
		if h.run == onsetFrames {
			h.paused = false
			s.step(coord.OfTurn{Event: turn.Onset{}})
		}
	case turn.Candidate:
		if u := s.turns[st.Turn]; u != nil {
			s.judged(u, u.judge.frame(speech))
		}
	case turn.Speaking:
		s.listenOn(st.Turn, speech)
	case turn.Confirming:
		s.listenOn(st.Turn, speech)
	}
}

// speaking: it is certain that somebody speaks. What is heard then is theirs, whatever else it may be.
func (s *Session) speaking() bool {
	switch s.state.Turn.(type) {
	case turn.Speaking, turn.Confirming:
		return true
	case turn.Idle, turn.Candidate:
	}
	return false
}

// listenOn watches for the end of turn t.
func (s *Session) listenOn(t turn.ID, speech bool) {
	h, td := s.hearing, s.settings.Audio.Input.TurnDetection
	if speech {
		if h.paused {
			h.paused = false
			s.step(coord.OfTurn{Event: turn.VoiceResumed{Turn: t}})
		}
		return
	}
	after, fallback := td.SilenceDurationMS, 0
	if td.Type == wire.SemanticVAD {
		if _, degraded := s.state.Live.(transcription.Unavailable); degraded {
			after = wire.DefaultSession().Audio.Input.TurnDetection.SilenceDurationMS
		} else {
			after, fallback = pauseMS, eagernessMS(td.Eagerness)
		}
	}
	if h.silent >= after && !h.paused {
		h.paused = true
		s.step(coord.OfTurn{Event: turn.Silence{Turn: t, FallbackMS: uint32(fallback)}})
	}
}

// starve is posted while turn is open, to see whether its audio still comes.
type starve struct{ turn turn.ID }

// starved ends a turn whose client sends nothing any more, not even silence: the detector's time is the audio's, so it would
// wait for ever.
func (s *Session) starved(t turn.ID) {
	if turn.Open(s.state.Turn) != t {
		return
	}
	if left := starveAfter - s.now().Sub(s.hearing.audio); left > 0 {
		s.after("starve", left, starve{t})
		return
	}
	s.step(coord.OfTurn{Event: turn.Silence{Turn: t}})
}

// eagernessMS is how long semantic_vad waits for an end of utterance: the protocol's 8, 4 and 2 s.
func eagernessMS(eagerness string) int {
	switch eagerness {
	case "low":
		return 8000
	case "high":
		return 2000
	}
	return 4000
}

// decide ends the wait for a verdict about candidate t. A client that sends nothing any more has fallen silent.
func (s *Session) decide(t turn.ID) {
	if u := s.turns[t]; u != nil {
		u.judge.gap = max(u.judge.gap, int(s.now().Sub(s.hearing.audio).Milliseconds()))
		s.judged(u, u.judge.deadline())
	}
}

// judged acts on what the judge of the candidate u says.
func (s *Session) judged(u *userTurn, v verdict) {
	switch v {
	case confirmed:
		s.step(coord.OfTurn{Event: turn.Sustained{Turn: u.id}})
	case rejected:
		s.step(coord.OfTurn{Event: turn.Misfire{Turn: u.id}})
	case undecided:
	}
}

// detecting: the server's turn detection is on.
func (s *Session) detecting() bool { return s.settings.Audio.Input.TurnDetection != nil && s.vad }

// threshold is the session's, raised while the client's echo cancellation is adapting.
func (s *Session) threshold() float32 {
	h, td := s.hearing, s.settings.Audio.Input.TurnDetection
	t := float32(td.Threshold)
	if td.Type == wire.SemanticVAD {
		t = voice.DefaultThreshold
	}
	playing := s.audible()
	if h.first.IsZero() && playing {
		h.first = s.now()
	}
	if playing && s.now().Sub(h.first) < adaptFirst || !h.quiet.IsZero() && s.now().Sub(h.quiet) < adaptAfter {
		t = max(t, min(0.9, t+raisedBy))
	}
	return max(0.01, min(0.99, t))
}

// transcribing is how the session's settings have audio transcribed.
func (s *Session) transcribing(live bool) pipeline.TranscribeConfig {
	c := pipeline.TranscribeConfig{Live: live}
	if tr := s.settings.Audio.Input.Transcription; tr != nil {
		c.Model, c.Language, c.Prompt = tr.Model, tr.Language, tr.Prompt
	}
	return c
}

// listen opens the recogniser for turn u. A live one gets what was said so far.
func (s *Session) listen(u *userTurn, live bool) {
	c := s.transcribing(live)
	if !live {
		u.ear = listen(s.ctx, &s.workers, s.cfg.Pipeline.Transcriber, c, u.id, u.audio, s.queue.post)
		return
	}
	u.ear = listen(s.ctx, &s.workers, s.cfg.Pipeline.Transcriber, c, u.id, nil, s.queue.post)
	h := s.hearing
	back := min(len(h.recent), int((voice.Samples(h.frames*frameSamples)-u.start)/frameSamples))
	for _, frame := range h.recent[len(h.recent)-max(0, back):] {
		u.ear.write(frame)
	}
}

// makeRoom deals with a full input buffer: a turn that is longer than the buffer is committed, so nothing is lost; a
// client that commits by itself is told, once.
func (s *Session) makeRoom() bool {
	if t := turn.Open(s.state.Turn); t != 0 {
		s.step(coord.OfTurn{Event: turn.Silence{Turn: t}})
		return s.input.Len() == 0
	}
	if !s.fullSaid {
		s.fullSaid = true
		s.fail(failure{code: "input_audio_buffer_full", message: "the input buffer is full (5 minutes): commit or clear it"})
	}
	return false
}
