package session

// noise_reduction, with a reducer of the test: what the client is told, where turns begin and end, and what follows from a failure.

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// lateReducer is a NoiseReducer whose reductions change nothing, and are 10 ms late.
type lateReducer struct {
	state    string
	opened   []pipeline.NoiseField
	open     int // reductions that are not closed
	fails    error
	refuses  error
	appended int
}

func (r *lateReducer) Component() pipeline.Component {
	return pipeline.Component{Stage: pipeline.StageNoiseReduction, Name: "late", State: r.state}
}

func (r *lateReducer) Close() error { return nil }

func (r *lateReducer) Open(f pipeline.NoiseField) (pipeline.NoiseReduction, error) {
	if r.refuses != nil {
		return nil, r.refuses
	}
	r.opened = append(r.opened, f)
	r.open++
	return &lateReduction{reducer: r}, nil
}

type lateReduction struct {
	reducer *lateReducer
	held    []int16
}

const lateSamples = 240

func (l *lateReduction) Append(dst, pcm []int16) ([]int16, error) {
	if l.reducer.fails != nil {
		return dst, l.reducer.fails
	}
	l.reducer.appended += len(pcm)
	l.held = append(l.held, pcm...)
	n := max(0, len(l.held)-lateSamples)
	dst = append(dst, l.held[:n]...)
	l.held = l.held[n:]
	return dst, nil
}

func (l *lateReduction) Flush(dst []int16) ([]int16, error) {
	dst = append(dst, l.held...)
	l.held = nil
	return dst, nil
}

func (l *lateReduction) Delay() time.Duration { return 10 * time.Millisecond }

func (l *lateReduction) Close() { l.reducer.open-- }

// noisy returns a pipeline with a reducer in that state.
func noisy(state string) (*pipeline.Pipeline, *lateReducer) {
	p := scripted.New(scripted.Options{})
	r := &lateReducer{state: state}
	p.ReduceNoise(r)
	return p, r
}

const nearField = `"audio":{"input":{"noise_reduction":{"type":"near_field"}}}`

func TestNoiseReduction(t *testing.T) {
	story(t, "is honoured where it works, changed and ended", func(t *testing.T) {
		p, r := noisy(pipeline.StateReady)
		c := byWebSocket(t, p)
		c.settle(nearField)
		c.quiet(100)
		c.settle(`"audio":{"input":{"noise_reduction":{"type":"far_field"}}}`)
		c.g.Expect(r.opened).To(gomega.Equal([]pipeline.NoiseField{pipeline.NearField, pipeline.FarField}))
		c.settle(`"instructions":"Be brief."`)
		c.g.Expect(r.open).To(gomega.Equal(1))
		c.settle(`"audio":{"input":{"noise_reduction":null}}`)
		c.g.Expect(r.open).To(gomega.BeZero())
	})
	story(t, "comes back as null where it does not work", func(t *testing.T) {
		p, r := noisy(pipeline.StateMissing)
		c := byWebSocket(t, p)
		c.send(change(nearField))
		c.g.Expect(next[*wire.SessionUpdated](c, "session.updated").Session.Audio.Input.NoiseReduction).To(gomega.BeNil())
		c.g.Expect(r.opened).To(gomega.BeEmpty())
	})
	story(t, "ends with the session", func(t *testing.T) {
		p, r := noisy(pipeline.StateReady)
		c := byWebSocket(t, p)
		c.settle(nearField)
		c.g.Expect(r.open).To(gomega.Equal(1))
		c.s.Close(conn.ByClient)
		<-c.s.Done()
		c.g.Expect(r.open).To(gomega.BeZero())
	})
}

// The reduction is late, and the places of a turn are still those of the audio.
func TestNoiseReductionMovesNoTurn(t *testing.T) {
	var starts, ends [2]int
	for i, settings := range []string{`"instructions":"x"`, nearField} {
		story(t, settings, func(t *testing.T) {
			p, _ := noisy(pipeline.StateReady)
			c := byWebSocket(t, p)
			c.settle(settings)
			c.quiet(300)
			c.speak(scripted.Tones("hello there"))
			c.quiet(800)
			starts[i] = next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started").AudioStartMS
			ends[i] = next[*wire.InputAudioBufferSpeechStopped](c, "input_audio_buffer.speech_stopped").AudioEndMS
			first(c, "response.done")
		})
	}
	g := gomega.NewWithT(t)
	g.Expect(starts[1]).To(gomega.Equal(starts[0]))
	g.Expect(ends[1]).To(gomega.Equal(ends[0]))
}

// A client's commit has all that was appended, although the reduction had not returned all of it.
func TestACommitWaitsForNoNoiseReduction(t *testing.T) {
	story(t, "100 ms are enough to commit", func(t *testing.T) {
		p, _ := noisy(pipeline.StateReady)
		c := byWebSocket(t, p)
		c.settle(`"audio":{"input":{"turn_detection":null,"noise_reduction":{"type":"near_field"}}}`)
		c.quiet(100)
		c.send(`{"type":"input_audio_buffer.commit"}`)
		first(c, "input_audio_buffer.committed")
		c.g.Expect(c.count("error")).To(gomega.BeZero())
	})
}

func TestNoiseReductionThatFails(t *testing.T) {
	for name, broken := range map[string]func(*lateReducer, error){
		"at once": func(r *lateReducer, err error) { r.refuses = err },
		"later":   func(r *lateReducer, err error) { r.fails = err },
	} {
		story(t, name, func(t *testing.T) {
			p, r := noisy(pipeline.StateReady)
			broken(r, errors.New("trapped"))
			var lines bytes.Buffer
			c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), Logger: slog.New(slog.NewTextHandler(&lines, nil))}).start()
			c.settle(nearField)
			c.quiet(300)
			c.speak(scripted.Tones("hello there"))
			c.quiet(800)
			first(c, "response.done")
			c.send(change(`"instructions":"x"`))
			set := next[*wire.SessionUpdated](c, "session.updated").Session
			c.g.Expect(set.Audio.Input.NoiseReduction).To(gomega.BeNil())
			c.g.Expect(bytes.Count(lines.Bytes(), []byte("noise reduction has failed"))).To(gomega.Equal(1))
			c.g.Expect(r.open).To(gomega.BeZero())
		})
	}
}
