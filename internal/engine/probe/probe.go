package probe

// The requests to the three stages, and what they show.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// What the stages are asked.
const (
	sentence = "Hello, this is a test."
	question = "Say hello in one short sentence."
	tokens   = 1024 // limit of the answer: a model may think before it answers
	enough   = 100  // bytes of the answer after which the request ends
)

// Limits of a probe.
const (
	stageTimeout = time.Minute      // of the request to one stage: a server may have to load a model
	silence      = time.Second      // before and after the sentence
	longest      = 20 * time.Second // of audio that is kept
)

// Result is what the request to one stage showed. A duration is 0 if it was not measured.
type Result struct {
	Stage    string        // pipeline.StageTranscriber, StageModel or StageSynthesizer
	Connect  time.Duration // the dial of the connection that the request used
	First    time.Duration // until the first token, the first audio, or the text that follows the end of the speech
	RealTime float64       // time of the work, divided by the length of the speech; 0 for the model
	Answer   string        // the begin of what the stage answered
	Said     string        // the sentence that the recogniser heard; "" if it heard none, or is scripted
	Err      error         // why the stage does not work; nil if it does
}

// firsts says what Result.First waits for, for each stage.
var firsts = map[string]string{pipeline.StageTranscriber: "text", pipeline.StageModel: "first token", pipeline.StageSynthesizer: "first audio"}

// Facts returns how fast the stage is, in words; "" if nothing was measured.
func (r *Result) Facts() string {
	var all []string
	if r.Connect > 0 {
		all = append(all, "connects in "+Short(r.Connect))
	}
	if r.First > 0 {
		all = append(all, firsts[r.Stage]+" after "+Short(r.First))
	}
	if r.RealTime > 0 {
		all = append(all, strconv.FormatFloat(r.RealTime, 'f', 2, 64)+" of real time")
	}
	return strings.Join(all, ", ")
}

// Short returns a duration with two or three digits.
func Short(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(d.Seconds()*1000, 'f', 1, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// Run warms the pipeline and tries its three stages, one after another. It takes at most a minute for each. The results are in the order
// of the pipeline's components.
func Run(ctx context.Context, p *pipeline.Pipeline) []Result { return again(ctx, p, nil) }

// again warms the pipeline and tries the stages that did not work according to before; nil tries all. The synthesizer speaks for the
// recogniser in any case.
func again(ctx context.Context, p *pipeline.Pipeline, before []Result) []Result {
	ctx, dials := trace(ctx)
	_ = within(ctx, p.Warm) // the request to the stage shows the failure
	after := slices.Clone(before)
	if before == nil {
		after = []Result{{Err: errUntried}, {Err: errUntried}, {Err: errUntried}}
	}
	if after[0].Err != nil || after[2].Err != nil {
		var speech []float32
		after[2], speech = speak(ctx, dials, p)
		if after[0].Err != nil {
			after[0] = hear(ctx, dials, p, speech)
		}
	}
	if after[1].Err != nil {
		after[1] = answer(ctx, dials, p)
	}
	return after
}

// errUntried: the stage was not tried.
var errUntried = errors.New("not tried")

// within calls f with the limit of a stage, and returns its error. Its error for the limit says what did not come.
func within(ctx context.Context, f func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, stageTimeout)
	defer cancel()
	err := f(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("no answer within %v", stageTimeout)
	}
	return err
}

// speak has the synthesizer say the sentence. It returns the speech at the sample rate of the recogniser, with silence around it.
func speak(ctx context.Context, dials *dials, p *pipeline.Pipeline) (r Result, speech []float32) {
	r.Stage = pipeline.StageSynthesizer
	down, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	if err != nil {
		r.Err = err
		return r, nil
	}
	pause := make([]float32, int(silence.Seconds()*pipeline.InputRate))
	speech = append(speech, pause...)
	traced, connect := dials.stage(ctx)
	begin, samples := time.Now(), 0
	r.Err = within(traced, func(ctx context.Context) error {
		return p.Synthesizer.Synthesize(ctx, pipeline.Utterance{Text: sentence}, func(pcm []int16) error {
			if samples == 0 && len(pcm) > 0 {
				r.First = time.Since(begin)
			}
			if samples += len(pcm); samples > int(longest.Seconds()*pipeline.OutputRate) {
				return fmt.Errorf("more than %v of audio for %q", longest, sentence)
			}
			speech = down.Append(speech, voice.PCM16ToFloat(nil, pcm))
			return nil
		})
	})
	took := time.Since(begin)
	r.Connect = connect()
	switch {
	case r.Err != nil:
		return r, nil
	case samples == 0:
		r.Err = &pipeline.StageError{Stage: r.Stage, Err: fmt.Errorf("no audio for the text %q", sentence), Hint: "check the model and the voice in the configuration"}
		return r, nil
	}
	length := float64(samples) / pipeline.OutputRate
	r.RealTime, r.Answer = took.Seconds()/length, fmt.Sprintf("%.1f s of speech", length)
	return r, append(down.Flush(speech), pause...)
}

// errDeaf: the recogniser found no words in the sentence.
var errDeaf = errors.New("it recognised nothing in the sentence that the synthesizer spoke")

// hear has the recogniser hear the speech. Without speech it hears silence, and any answer will do.
func hear(ctx context.Context, dials *dials, p *pipeline.Pipeline, speech []float32) (r Result) {
	r.Stage = pipeline.StageTranscriber
	silent := speech == nil
	if silent {
		speech = make([]float32, pipeline.InputRate)
	}
	traced, connect := dials.stage(ctx)
	begin := time.Now()
	var ended time.Time
	r.Err = within(traced, func(ctx context.Context) (err error) {
		t, err := p.Transcriber.Open(ctx, pipeline.TranscribeConfig{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.Close()) }()
		if err := errors.Join(t.Write(speech), t.CloseInput()); err != nil {
			return err
		}
		ended = time.Now()
		for result := range t.Results() {
			if result.Err != nil {
				return result.Err
			}
			r.Answer = result.Text
		}
		return ctx.Err()
	})
	r.Connect = connect()
	if r.Err != nil {
		return r
	}
	r.First = time.Since(ended)
	r.RealTime = time.Since(begin).Seconds() / (float64(len(speech)) / pipeline.InputRate)
	if r.Answer = strings.TrimSpace(r.Answer); silent {
		r.Answer = "heard silence"
	} else if c := p.Components(); c[0].Name != "scripted" {
		r.Said = sentence
	}
	if r.Answer == "" {
		r.Err = &pipeline.StageError{Stage: r.Stage, Err: errDeaf, Hint: "check its model and language in the configuration, and whether the synthesizer speaks"}
	}
	return r
}

// errMute: the model answered without text. errEnough: it has said enough.
var (
	errMute   = errors.New("it answered without text")
	errEnough = errors.New("enough")
)

// ask returns the question. For a model that hears it has audio as well, which is silent, because some servers refuse audio.
func ask(m pipeline.Model) pipeline.Message {
	q := pipeline.Message{Role: pipeline.RoleUser, Text: question}
	if a, ok := m.(pipeline.AudioModel); ok && a.HearsAudio() {
		q.Audio = &pipeline.Audio{PCM: make([]int16, pipeline.AudioRate), Rest: question}
	}
	return q
}

func answer(ctx context.Context, dials *dials, p *pipeline.Pipeline) (r Result) {
	r.Stage = pipeline.StageModel
	traced, connect := dials.stage(ctx)
	begin := time.Now()
	var said strings.Builder
	r.Err = within(traced, func(ctx context.Context) error {
		_, err := p.Model.Generate(ctx, pipeline.Request{
			Messages: []pipeline.Message{ask(p.Model)}, MaxOutputTokens: tokens, Spoken: true,
		}, func(e pipeline.ModelEvent) error {
			if d, is := e.(pipeline.TextDelta); is && d.Text != "" {
				if r.First == 0 {
					r.First = time.Since(begin)
				}
				if said.WriteString(d.Text); said.Len() > enough {
					return errEnough
				}
			}
			return nil
		})
		if errors.Is(err, pipeline.ErrMaxTokens) || errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	r.Connect = connect()
	if r.Answer = strings.TrimSpace(said.String()); r.Answer == "" && r.Err == nil {
		r.Err = &pipeline.StageError{
			Stage: r.Stage, Err: errMute,
			Hint: fmt.Sprintf("a model that thinks may need more than the %d tokens of this test; else check the model in the configuration", tokens),
		}
	}
	return r
}

// Show returns components with what the results say of them: a stage that does not work has failed, and says why; one that works says how
// fast it is. A component that is missing stays as it is.
func Show(components []pipeline.Component, results []Result) []pipeline.Component {
	for i := range components {
		c := &components[i]
		for _, r := range results {
			if r.Stage != c.Stage || c.State == pipeline.StateMissing {
				continue
			}
			facts := r.Facts()
			switch {
			case r.Err != nil:
				c.State, c.Detail = pipeline.StateFailed, reason(r)
			case facts == "" || c.State != pipeline.StateReady:
			case c.Detail == "":
				c.Detail = facts
			default:
				c.Detail += "; " + facts
			}
		}
	}
	return components
}

// reason returns why a stage does not work, without the name of the stage, which the reader sees beside it.
func reason(r Result) string {
	return strings.TrimPrefix(r.Err.Error(), r.Stage+": ")
}
