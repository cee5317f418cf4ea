package wyoming

// The synthesizer: one clause to a service, and its audio back at the rate of the pipeline.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of one call of Synthesize.
const (
	maxRunes = 4000                         // the longest text, in runes; a clause has at most pipeline.MaxClause
	maxSound = 5 * 60 * pipeline.OutputRate // the longest audio, in samples: 5 minutes
)

// maxVoices is how many names an error about an unknown synthesis voice lists.
const maxVoices = 20

// SynthesizerOptions configure a Synthesizer. Service is required.
type SynthesizerOptions struct {
	Service Service
	Voice   string // the synthesis voice where a session names none, or one of the protocol; empty: the service's default
	Speaker string // the speaker of Voice, for a voice that has several
}

// Synthesizer is a pipeline.Synthesizer whose engine is a Wyoming service. Its methods may be called by several goroutines at a time. The
// protocol has no speed: a Synthesizer speaks at the speed of the service.
type Synthesizer struct {
	service *service
	o       SynthesizerOptions
}

// NewSynthesizer returns a Synthesizer, or an error that says which setting is wrong. It does not call the service.
func NewSynthesizer(o SynthesizerOptions) (*Synthesizer, error) {
	s, err := newService(pipeline.StageSynthesizer, o.Service)
	if err == nil && o.Speaker != "" && o.Voice == "" {
		err = errors.New("speaker: it belongs to a voice; set voice, too")
	}
	return &Synthesizer{s, o}, err
}

// Warm asks the service for its synthesis voices, and has it speak a word, so that it loads its model.
func (s *Synthesizer) Warm(ctx context.Context) error {
	_, err := s.service.describe(ctx)
	if err == nil {
		err = s.check(s.o.Voice)
	}
	if err != nil {
		return s.service.last.Note(ctx, err)
	}
	return s.Synthesize(ctx, pipeline.Utterance{Text: "Hello."}, func([]int16) error { return nil })
}

// Component returns the present state: it has failed if the last call has.
func (s *Synthesizer) Component() pipeline.Component {
	name := s.o.Voice
	if known := s.service.info.Load(); known != nil {
		name = strings.TrimSpace(known.TTS[0].Name + " " + name)
	}
	return s.service.component(name)
}

// CheckVoice implements pipeline.VoiceChecker. Before the service has been asked for its voices, every name is fine.
func (s *Synthesizer) CheckVoice(name string) error {
	if name == "" || slices.Contains(pipeline.ProtocolVoices(), name) {
		return nil
	}
	return s.check(name)
}

// check returns an error if the service is known not to have a synthesis voice.
func (s *Synthesizer) check(name string) error {
	known := s.service.info.Load()
	if known == nil || name == "" || known.voice(name) != nil {
		return nil
	}
	var all []string
	for _, p := range known.TTS {
		for _, v := range p.Voices {
			if v.Installed == nil || *v.Installed {
				all = append(all, v.Name)
			}
		}
	}
	if len(all) > maxVoices {
		all = append(all[:maxVoices], fmt.Sprintf("and %d others", len(all)-maxVoices))
	}
	return &pipeline.StageError{
		Stage: pipeline.StageSynthesizer, Err: fmt.Errorf("%w %q at %s", pipeline.ErrUnknownVoice, name, s.service.URL), Hint: "want one of " + strings.Join(all, ", "),
	}
}

// voice returns the synthesis voice with this name; nil if there is none.
func (i *info) voice(name string) *variant {
	for _, p := range i.TTS {
		for n := range p.Voices {
			if p.Voices[n].Name == name {
				return &p.Voices[n]
			}
		}
	}
	return nil
}

// speaker returns the voice field of a request for a session's voice; nil for the service's default.
func (s *Synthesizer) speaker(name string) map[string]string {
	known := s.service.info.Load()
	theirs := known != nil && known.voice(name) != nil
	if name == "" || !theirs && slices.Contains(pipeline.ProtocolVoices(), name) {
		name = s.o.Voice
	}
	if name == "" {
		return nil
	}
	v := map[string]string{"name": name}
	if s.o.Speaker != "" && name == s.o.Voice {
		v["speaker"] = s.o.Speaker
	}
	return v
}

func (s *Synthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if !strings.ContainsFunc(u.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil
	}
	if n := utf8.RuneCountInString(u.Text); n > maxRunes {
		return &pipeline.StageError{Stage: pipeline.StageSynthesizer, Err: fmt.Errorf("%w: %d characters; %d are allowed", pipeline.ErrTooLong, n, maxRunes)}
	}
	var refused error // by emit
	err := s.speak(ctx, u, func(pcm []int16) error {
		refused = emit(pcm)
		return refused
	})
	if refused != nil {
		return refused
	}
	return s.service.last.Note(ctx, err)
}

func (s *Synthesizer) speak(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	known, err := s.service.known(ctx)
	if err == nil {
		err = s.CheckVoice(u.Voice)
	}
	if v := s.speaker(u.Voice); err == nil && v != nil {
		err = s.check(v["name"]) // that of the configuration: the service's own error would not name the right ones
	}
	if err != nil {
		return err
	}
	c, err := s.service.open(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	end := "audio-stop"
	if known.TTS[0].Synthesis {
		end = "synthesize-stopped"
	}
	if err := s.request(c, u, end == "synthesize-stopped"); err != nil {
		return err
	}
	out := output{emit: emit}
	for {
		e, err := c.next()
		if err != nil {
			return err
		}
		if err := out.take(e); err != nil {
			return c.fail(err)
		}
		if e.kind == end {
			return c.fail(out.close())
		}
	}
}

// request sends the text. A service that streams gets it as a stream of one piece: it begins to speak after the first sentence.
func (s *Synthesizer) request(c *conn, u pipeline.Utterance, stream bool) error {
	type fields struct {
		Text  string            `json:"text,omitempty"`
		Voice map[string]string `json:"voice,omitempty"`
	}
	v := s.speaker(u.Voice)
	if !stream {
		return c.send("synthesize", fields{u.Text, v}, nil)
	}
	for _, e := range []struct {
		kind string
		data any
	}{
		{"synthesize-start", fields{"", v}},
		{"synthesize-chunk", fields{u.Text, nil}},
		{"synthesize", fields{u.Text, v}}, // for services that know nothing of streams; the others pass over it
		{"synthesize-stop", nil},
	} {
		if err := c.send(e.kind, e.data, nil); err != nil {
			return err
		}
	}
	return nil
}

// output turns the audio of a service into chunks of the pipeline.
type output struct {
	emit    func(pcm []int16) error
	format  format
	up      *voice.Resampler // nil before the first stretch of audio
	half    []byte           // the begin of a frame of samples whose end comes with the next event
	samples int              // how many were emitted
}

func (o *output) take(e event) error {
	switch e.kind {
	case "audio-start":
		return o.start(e)
	case "audio-chunk":
		if o.format.Rate == 0 {
			if err := o.start(e); err != nil { // some services leave audio-start out
				return err
			}
		}
		return o.add(e.payload)
	case "audio-stop":
		return o.flush()
	}
	return nil
}

// start begins a stretch of audio. A service that streams begins one for each sentence.
func (o *output) start(e event) error {
	var f format
	if err := e.into(&f); err != nil {
		return err
	}
	if f.Width != 2 || f.Channels < 1 || f.Channels > 2 {
		return fmt.Errorf("%w: audio of %d bytes a sample and %d channels; 2 bytes are read, and 1 or 2 channels", errAnswer, f.Width, f.Channels)
	}
	if err := o.flush(); err != nil {
		return err
	}
	up, err := voice.NewResampler(f.Rate, pipeline.OutputRate)
	if err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	o.format, o.up = f, up
	return nil
}

// add takes PCM, which may end within a sample.
func (o *output) add(payload []byte) error {
	payload = append(o.half, payload...)
	whole := len(payload) - len(payload)%(2*o.format.Channels)
	o.half = slices.Clone(payload[whole:])
	pcm := voice.BytesToPCM16(nil, payload[:whole])
	if o.format.Channels == 2 {
		for i := range len(pcm) / 2 {
			pcm[i] = int16((int(pcm[2*i]) + int(pcm[2*i+1])) / 2)
		}
		pcm = pcm[:len(pcm)/2]
	}
	return o.give(o.up.AppendPCM16(nil, pcm))
}

// flush ends a stretch of audio.
func (o *output) flush() error {
	if len(o.half) > 0 {
		return fmt.Errorf("%w: the audio ends with half a sample", errAnswer)
	}
	if o.up == nil {
		return nil
	}
	return o.give(o.up.FlushPCM16(nil))
}

// close ends the audio. A service that had something to say must have sent some.
func (o *output) close() error {
	if err := o.flush(); err != nil {
		return err
	}
	if o.samples == 0 {
		return fmt.Errorf("%w: no audio for the text", errAnswer)
	}
	return nil
}

// give emits samples in chunks.
func (o *output) give(pcm []int16) error {
	if o.samples += len(pcm); o.samples > maxSound {
		return fmt.Errorf("%w: more than %d minutes of audio for one clause", errAnswer, maxSound/60/pipeline.OutputRate)
	}
	for part := range slices.Chunk(pcm, pipeline.MaxChunk) {
		if err := o.emit(part); err != nil {
			return err
		}
	}
	return nil
}
