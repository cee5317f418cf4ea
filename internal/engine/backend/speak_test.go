package backend

// Speakers in processes: audio, crashes, abandoned clauses and limits.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// speaker makes one second of constant samples for each word of its text. Some words make it fail; the voice names a file for that.
type speaker struct{}

const speakerRate = 8000

func (speaker) Info() Info   { return Info{Name: "speaker", Rate: speakerRate} }
func (speaker) Close() error { return nil }

func (speaker) Speak(_ context.Context, s Speech, emit func([]float32) error) error {
	for word := range strings.FieldsSeq(s.Text) {
		switch word {
		case "crash":
			os.Exit(3)
		case "once": // crashes, unless it has crashed before
			if os.Mkdir(s.Voice, 0o700) == nil {
				os.Exit(3)
			}
		case "hang":
			hang()
		case "fail":
			return errors.New("cannot say it")
		case "forever":
			for {
				if err := emit(make([]float32, speakerRate)); err != nil {
					return err
				}
			}
		}
		pcm := make([]float32, speakerRate)
		for i := range pcm {
			pcm[i] = 0.5
		}
		if err := emit(pcm); err != nil {
			return err
		}
	}
	return nil
}

func synthesis(o *Options) { o.Stage = pipeline.StageSynthesizer }

// speak speaks a text and returns the number of samples.
func speak(t *testing.T, p *Pool, u pipeline.Utterance) (samples int, err error) {
	t.Helper()
	err = p.Synthesize(t.Context(), u, func(pcm []int16) error {
		if len(pcm) > pipeline.MaxChunk {
			return fmt.Errorf("a chunk of %d samples", len(pcm))
		}
		samples += len(pcm)
		return nil
	})
	return samples, err
}

func TestSpeaks(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "speaker", synthesis)
	g.Expect(speak(t, p, pipeline.Utterance{Text: "one two"})).To(gomega.BeNumerically("~", 2*pipeline.OutputRate, 10))
	g.Expect(speak(t, p, pipeline.Utterance{Text: "..."})).To(gomega.Equal(0), "there is nothing to say")
	for text, want := range map[string]error{"fail": errEngine, "crash": ErrCrashed, strings.Repeat("x", 2001): pipeline.ErrTooLong} {
		_, err := speak(t, p, pipeline.Utterance{Text: text})
		var stage *pipeline.StageError
		g.Expect(errors.As(err, &stage)).To(gomega.BeTrue())
		g.Expect(stage.Stage).To(gomega.Equal(pipeline.StageSynthesizer))
		g.Expect(err).To(gomega.MatchError(want))
	}
	g.Expect(speak(t, p, pipeline.Utterance{Text: "one"})).To(gomega.BeNumerically(">", 0), "the pool works after each error")
}

// A process that crashes before the first audio is replaced, and the clause is spoken.
func TestACrashBeforeTheFirstAudioIsNotHeard(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "speaker", synthesis)
	mark := filepath.Join(t.TempDir(), "mark")
	g.Expect(speak(t, p, pipeline.Utterance{Text: "once", Voice: mark})).To(gomega.BeNumerically("~", pipeline.OutputRate, 10))
	n, err := speak(t, p, pipeline.Utterance{Text: "one crash"})
	g.Expect(err).To(gomega.MatchError(ErrCrashed))
	g.Expect(n).To(gomega.BeNumerically("<=", pipeline.OutputRate), "audio that was heard is not spoken again")
}

// A cancelled clause ends at once, and its process speaks the next one.
func TestACancelledClauseEndsAtOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "speaker", func(o *Options) { synthesis(o); o.Max = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	err := p.Synthesize(ctx, pipeline.Utterance{Text: "one forever"}, func([]int16) error {
		cancel()
		return nil
	})
	g.Expect(err).To(gomega.Equal(context.Canceled))
	g.Expect(speak(t, p, pipeline.Utterance{Text: "one"})).To(gomega.BeNumerically(">", 0))
	refusal := errors.New("no more")
	g.Expect(p.Synthesize(t.Context(), pipeline.Utterance{Text: "forever"}, func([]int16) error { return refusal })).To(gomega.Equal(refusal))
	g.Expect(speak(t, p, pipeline.Utterance{Text: "one"})).To(gomega.BeNumerically(">", 0))
}

func TestASpeakerThatHangsIsReplaced(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "speaker", func(o *Options) { synthesis(o); o.Hang = 300 * time.Millisecond })
	_, err := speak(t, p, pipeline.Utterance{Text: "hang"})
	g.Expect(err).To(gomega.MatchError(ErrHung))
	p.o.Hang = 20 * time.Second
	g.Expect(speak(t, p, pipeline.Utterance{Text: "one"})).To(gomega.BeNumerically(">", 0))
}

// A clause that does not end is cut off.
func TestAClauseHasALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	n, err := speak(t, newPool(t, "speaker", synthesis), pipeline.Utterance{Text: "forever"})
	g.Expect(err).To(gomega.MatchError(ErrProtocol))
	g.Expect(n).To(gomega.BeNumerically("<=", int(maxClauseSound/time.Second)*pipeline.OutputRate))
}

// What a server must not send ends the connection with an error.
func TestASpeakerRefusesOtherFrames(t *testing.T) {
	for _, k := range []kind{kindAudio, kindConfig, kindSound} {
		g := gomega.NewWithT(t)
		var in, out bytes.Buffer
		g.Expect(writeFrame(&in, k, nil)).To(gomega.Succeed())
		g.Expect(ServeSpeaker(t.Context(), &in, &out, speaker{})).To(gomega.MatchError(ErrProtocol))
	}
}
