package sherpa

// This file makes captions and a transcript from a model that decodes whole recordings: it decides when to decode which part of the
// utterance.

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	ms = pipeline.InputRate / 1000 // samples of a millisecond

	// firstCaption is how much speech there must be before the first decoding, in samples. The model invents words for less.
	firstCaption = 400 * ms
	// captionEvery is the least audio between two decodings for captions, in samples.
	captionEvery = 300 * ms
	// idleShare is how many times the duration of a decoding must pass before the next one for captions. So captions take at most a
	// quarter of one processor.
	idleShare = 3
	// pause is the silence after which the engine decodes at once, in samples: the utterance may be over, and the end of the turn waits for the text.
	pause = postRoll + 10*ms
	// firstPause is the silence after which the first speech of a segment is decoded at once, in samples. A short word over the agent, such as "wait",
	// must be known before the session takes it for a cough, which it does after 200 ms of silence.
	firstPause = 50 * ms
	// cutAfter is the length from which on an utterance is cut at the next long pause, in samples.
	cutAfter = 5000 * ms
	// longPause is such a pause, in samples. A shorter one may be inside a word.
	longPause = 240 * ms
	// maxSegment is the longest recording that is decoded, in samples. Moonshine's decoder fails in sherpa-onnx 1.13.8 above 9 s.
	maxSegment = 8500 * ms
	// searchQuiet is how far back the engine looks for a quiet place to cut speech without a pause, in samples.
	searchQuiet = 2500 * ms
	// preRoll is how much of the audio before the detected onset is decoded, in samples. A soft first sound is there. More silence makes
	// the model mishear the first word.
	preRoll = 200 * ms
	// postRoll is how much of the audio after the last speech is decoded, in samples. For more silence the model invents words.
	postRoll = 150 * ms
	// quietWindow is the length of a quiet place, in samples.
	quietWindow = 60 * ms
)

// recordings is what turns a recording into text. It is a *decoder outside the tests.
type recordings interface {
	text(pcm []float32) (string, error)
	// times returns the words of a text of the recording with their times.
	times(pcm []float32, text string) ([]backend.Word, error)
}

// stream is one utterance. It implements backend.Stream.
type stream struct {
	decoder  recordings
	now      func() time.Time
	detector *voice.Detector
	live     bool
	timed    bool // the caller wants the times of words

	done    []string       // texts of the segments before the present one
	words   []backend.Word // of those segments
	offset  int            // where the present segment begins in the utterance, in samples
	segment []float32      // audio of the present segment
	framed  int            // how much of the segment the detector has heard, in samples
	speech  int            // how much speech is in the segment, in samples
	onset   int            // where the first speech of the segment begins, in samples
	spoken  int            // where the last speech of the segment ended, in samples

	text     string // of the segment, by the last decoding
	decoded  int    // how much of the segment the last decoding had, in samples; 0: there was none
	nextSize int    // the size of the segment at which captions are decoded next
}

func newStream(d recordings, live bool, now func() time.Time) *stream {
	return &stream{decoder: d, now: now, detector: voice.NewDetector(voice.DetectorConfig{}), live: live, nextSize: firstCaption}
}

func (s *stream) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	for len(pcm) > 0 {
		n := min(len(pcm), maxSegment-len(s.segment))
		s.segment, pcm = append(s.segment, pcm[:n]...), pcm[n:]
		s.listen()
		if err := s.step(); err != nil {
			return backend.Update{}, err
		}
	}
	return backend.Update{Partial: s.all(), Through: time.Duration(s.offset+s.decoded) * time.Second / pipeline.InputRate}, nil
}

// listen gives the new frames of the segment to the detector.
func (s *stream) listen() {
	for ; s.framed+voice.FrameSize <= len(s.segment); s.framed += voice.FrameSize {
		if s.detector.Frame(s.segment[s.framed : s.framed+voice.FrameSize]).Speech {
			if s.speech == 0 {
				s.onset = s.framed
			}
			s.speech += voice.FrameSize
			s.spoken = s.framed + voice.FrameSize
		}
	}
}

// step decodes, or ends the segment, where that is due.
func (s *stream) step() error {
	silence := len(s.segment) - s.spoken
	switch {
	case len(s.segment) >= maxSegment && s.speech == 0:
		s.drop(len(s.segment) - maxSegment/4) // a long silence before the first word
	case len(s.segment) >= maxSegment:
		return s.cut(s.quietest())
	case s.speech == 0:
	case len(s.segment) >= cutAfter && silence >= longPause:
		return s.cut(s.spoken + silence/2)
	case s.live && silence >= pause && s.decoded < s.spoken+pause && s.speech >= firstCaption/2:
		return s.decode(len(s.segment))
	case s.live && s.decoded == 0 && silence >= firstPause && s.speech >= firstCaption/2:
		return s.firstWords()
	case s.live && s.speech >= firstCaption && len(s.segment) >= s.nextSize && silence < pause:
		return s.caption()
	}
	return nil
}

// caption decodes for a caption, and decides when the next one is due.
func (s *stream) caption() error {
	began := s.now()
	old := s.text
	if err := s.decode(len(s.segment)); err != nil {
		return err
	}
	if s.text == "" {
		s.text = old // a caption does not disappear while the user speaks
	}
	took := int(s.now().Sub(began).Milliseconds()) * ms
	s.nextSize = len(s.segment) + max(captionEvery, idleShare*took)
	return nil
}

// firstWords decodes the first speech of the segment for a caption. The text does not count as that of the whole speech, which comes at the pause: after
// so little silence the model mishears more, and an end of the turn must not depend on that.
func (s *stream) firstWords() error {
	err := s.caption()
	s.decoded = s.spoken - 1
	return err
}

// decode sets the text of the segment to that of its first size samples.
func (s *stream) decode(size int) error {
	begin, end := s.bounds(size)
	text, err := s.decoder.text(s.segment[begin:end])
	if err != nil {
		return err
	}
	s.decoded = size
	s.text = plausible(text, size)
	return nil
}

// bounds returns which part of the first size samples of the segment is decoded.
func (s *stream) bounds(size int) (begin, end int) {
	end = min(size, s.spoken+postRoll)
	return min(end, max(0, s.onset-preRoll)), end
}

// time adds the words of the segment, which has that many samples.
func (s *stream) time(size int) error {
	begin, end := s.bounds(size)
	if !s.timed || s.text == "" || end == begin {
		return nil
	}
	words, err := s.decoder.times(s.segment[begin:end], s.text)
	for _, w := range words {
		before := (s.offset + begin) / ms
		w.StartMS, w.EndMS = w.StartMS+before, min(w.EndMS+before, (s.offset+len(s.segment))/ms)
		s.words = append(s.words, w)
	}
	return err
}

// cut ends the segment at that sample. What follows it begins the next segment.
func (s *stream) cut(at int) error {
	if s.decoded < s.spoken || s.decoded > at+pause {
		if err := s.decode(at); err != nil {
			return err
		}
	}
	if err := s.time(at); err != nil {
		return err
	}
	if s.text != "" {
		s.done = append(s.done, s.text)
	}
	s.drop(at)
	return nil
}

// drop removes the first samples of the segment. The rest is a segment that nothing was decoded of.
func (s *stream) drop(n int) {
	s.segment = slices.Delete(s.segment, 0, n)
	s.offset += n
	s.framed -= n
	s.spoken = max(0, s.spoken-n)
	s.speech, s.onset = s.spoken, 0
	s.text, s.decoded, s.nextSize = "", 0, firstCaption
}

// quietest returns the middle of the quietest place in the last part of the segment.
func (s *stream) quietest() int {
	best, at := float32(0), len(s.segment)
	for i := len(s.segment) - searchQuiet; i+quietWindow <= len(s.segment); i += quietWindow / 2 {
		var energy float32
		for _, v := range s.segment[i : i+quietWindow] {
			energy += v * v
		}
		if at == len(s.segment) || energy < best {
			best, at = energy, i+quietWindow/2
		}
	}
	return at
}

func (s *stream) all() string {
	return strings.TrimSpace(strings.Join(append(slices.Clip(s.done), s.text), " "))
}

// Finish implements backend.Stream. It decodes only if somebody spoke since the last decoding, or shortly before it.
func (s *stream) Finish(context.Context) (backend.Result, error) {
	s.listen()
	switch {
	case s.live && s.speech < firstCaption/4:
		s.text = "" // a click, or the end of what the last segment had
	case s.decoded < s.spoken+pause/2:
		if len(s.segment) > 0 {
			if err := s.decode(len(s.segment)); err != nil {
				return backend.Result{}, err
			}
		}
	}
	if err := s.time(len(s.segment)); err != nil {
		return backend.Result{}, err
	}
	return backend.Result{Text: s.all(), Words: s.words}, nil
}

func (s *stream) Close() error { return nil }
