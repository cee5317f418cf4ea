package session

// antiphon.input.sounds: who gets it, and what a back end that fails or hangs costs.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// tagger is a sounds.Tagger.
type tagger func(ctx context.Context, pcm []float32) ([]sounds.Tag, error)

func (f tagger) Tag(ctx context.Context, pcm []float32) ([]sounds.Tag, error) { return f(ctx, pcm) }

// tagging returns a pipeline with a Tagger.
func tagging(f tagger) *pipeline.Pipeline {
	p := plain()
	p.Sounds = f
	return p
}

// say lets the user say hello.
func (c *caller) say() {
	c.speak(scripted.Tones("hello"))
	c.quiet(800)
}

func TestSounds(t *testing.T) {
	known := tagger(func(_ context.Context, pcm []float32) ([]sounds.Tag, error) {
		length := time.Duration(len(pcm)) * time.Second / pipeline.InputRate
		return []sounds.Tag{{Name: sounds.Music, Length: length}, {Name: sounds.Click, Length: 30 * time.Millisecond}}, nil
	})
	story(t, "a client that asks gets the sounds of its turn", func(t *testing.T) {
		c := byWebSocket(t, tagging(known))
		c.send(`{"type":"antiphon.hello","sounds":true}`)
		c.say()
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		e := next[*wire.AntiphonInputSounds](c, "antiphon.input.sounds")
		c.g.Expect(e.ItemID).To(gomega.Equal(committed.ItemID))
		c.g.Expect(e.Sound).To(gomega.Equal("music"))
		click, _ := e.LengthsMS.Field("click")
		c.g.Expect(string(click)).To(gomega.Equal("30"))
	})
	story(t, "another client does not", func(t *testing.T) {
		c := byWebSocket(t, tagging(known))
		c.send(`{"type":"antiphon.hello"}`)
		c.say()
		first(c, "response.done")
		c.g.Expect(c.count("antiphon.input.sounds")).To(gomega.BeZero())
	})
	story(t, "silence has no sound", func(t *testing.T) {
		c := byWebSocket(t, tagging(func(context.Context, []float32) ([]sounds.Tag, error) { return nil, nil }))
		c.send(`{"type":"antiphon.hello","sounds":true}`)
		c.say()
		e := next[*wire.AntiphonInputSounds](c, "antiphon.input.sounds")
		c.g.Expect(e.Sound).To(gomega.BeEmpty())
		c.g.Expect(string(e.LengthsMS)).To(gomega.Equal("{}"))
	})
	for name, broken := range map[string]tagger{
		"fails":  func(context.Context, []float32) ([]sounds.Tag, error) { return nil, errors.New("broken") },
		"panics": func(context.Context, []float32) ([]sounds.Tag, error) { panic("broken") },
		"hangs": func(context.Context, []float32) ([]sounds.Tag, error) {
			wait(time.Minute)
			return nil, nil
		},
	} {
		story(t, "a back end that "+name+" costs the event alone", func(t *testing.T) {
			c := newCallerWith(t, Config{Pipeline: tagging(broken), Settings: wire.DefaultSession()}).start()
			c.send(`{"type":"antiphon.hello","sounds":true}`)
			for range 4 {
				c.say()
				next[*wire.ResponseDone](c, "response.done")
				c.quiet(3000)
			}
			c.g.Expect(c.count("antiphon.input.sounds")).To(gomega.BeZero())
		})
	}
}
